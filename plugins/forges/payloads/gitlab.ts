import type { PullRequestState } from '../../../ports/domain/forge-changes.js';
import type { DeliveredChange } from './change.js';
import { parsePush } from './push.js';
import {
  parseCommit,
  toPayloadFields,
  findName,
  toPayloadText,
  parseTime,
  parseTitle,
  parsePageUrl,
  type ForgePayload,
} from './fields.js';

const PULL_REQUEST_STATES: Readonly<Record<string, PullRequestState>> = {
  opened: 'open',
  // While it is being merged.
  locked: 'open',
  merged: 'merged',
  closed: 'closed',
};

export function parseGitlabChanges(body: ForgePayload): DeliveredChange[] {
  if (body['object_kind'] === 'push') return parsePush(body, getDefaultBranch(body));
  return body['object_kind'] === 'merge_request' ? parseMergeRequest(body) : [];
}

const getDefaultBranch = (body: ForgePayload): string | null =>
  toPayloadText(toPayloadFields(body['project'])['default_branch']) || null;

function parseMergeRequest(body: ForgePayload): DeliveredChange[] {
  const request = toPayloadFields(body['object_attributes']);
  const url = parsePageUrl(request['url']);
  const known = PULL_REQUEST_STATES[toPayloadText(request['state'])];
  if (url === null || known === undefined) return [];
  const title = toPayloadText(request['title']);
  const state = known === 'open' && request['draft'] === true ? 'draft' : known;
  return [
    {
      kind: 'pull_request',
      commit: state === 'merged' ? getMergeCommit(request) : null,
      url,
      title: parseTitle(title),
      text: `${title}\n\n${toPayloadText(request['description'])}`,
      // The body names the acting user, but the author only by id; the last commit has a name.
      author: findName(
        toPayloadFields(toPayloadFields(request['last_commit'])['author'])['name'],
        toPayloadFields(body['user'])['username'],
      ),
      state,
      landed: state === 'merged' && toPayloadText(request['target_branch']) === getDefaultBranch(body),
      at: parseTime(request['updated_at']),
    },
  ];
}

/** A fast-forward merge has no merge commit. */
const getMergeCommit = (request: ForgePayload): string | null =>
  parseCommit(request['merge_commit_sha']) ??
  parseCommit(request['squash_commit_sha']) ??
  parseCommit(toPayloadFields(request['last_commit'])['id']);
