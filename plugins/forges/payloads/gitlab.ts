/** Deliveries of GitLab: push and merge request hooks. Pure. */
import type { PullRequestState } from '../../../ports/domain/forge-changes.js';
import type { Change } from './change.js';
import { parsePush } from './push.js';
import { commitOf, members, nameOf, textOf, timeOf, titleOf, urlOf, type ForgePayload } from './reading.js';

const STATES: Readonly<Record<string, PullRequestState>> = {
  opened: 'open',
  // While it is being merged.
  locked: 'open',
  merged: 'merged',
  closed: 'closed',
};

export function changesOfGitlab(body: ForgePayload): Change[] {
  if (body['object_kind'] === 'push') return parsePush(body, defaultBranch(body));
  return body['object_kind'] === 'merge_request' ? requested(body) : [];
}

const defaultBranch = (body: ForgePayload): string | null => textOf(members(body['project'])['default_branch']) || null;

function requested(body: ForgePayload): Change[] {
  const request = members(body['object_attributes']);
  const url = urlOf(request['url']);
  const known = STATES[textOf(request['state'])];
  if (url === null || known === undefined) return [];
  const title = textOf(request['title']);
  const state = known === 'open' && request['draft'] === true ? 'draft' : known;
  return [
    {
      kind: 'pull_request',
      commit: state === 'merged' ? mergedAs(request) : null,
      url,
      title: titleOf(title),
      text: `${title}\n\n${textOf(request['description'])}`,
      // The body names who acted, and the author by number alone; the last commit has a name.
      author: nameOf(members(members(request['last_commit'])['author'])['name'], members(body['user'])['username']),
      state,
      landed: state === 'merged' && textOf(request['target_branch']) === defaultBranch(body),
      at: timeOf(request['updated_at']),
    },
  ];
}

/** A merge that only moved the branch forward made no commit of its own. */
const mergedAs = (request: ForgePayload): string | null =>
  commitOf(request['merge_commit_sha']) ??
  commitOf(request['squash_commit_sha']) ??
  commitOf(members(request['last_commit'])['id']);
