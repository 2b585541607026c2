/** Deliveries of GitHub, and of Gitea and Forgejo, which took its form over. Pure. */
import type { Change } from './change.js';
import { parsePush } from './push.js';
import { commitOf, members, nameOf, textOf, timeOf, titleOf, urlOf, type ForgePayload } from './reading.js';

/** @param event of `X-GitHub-Event` or `X-Gitea-Event`; what neither links nor fixes tells of nothing */
export function changesOfGithub(event: string, body: ForgePayload): Change[] {
  if (event === 'push') return parsePush(body, defaultBranch(body));
  return event.startsWith('pull_request') ? pulled(body) : [];
}

/** The branch that the repository's own pages show first; null where the body does not say. */
const defaultBranch = (body: ForgePayload): string | null =>
  textOf(members(body['repository'])['default_branch']) || null;

function pulled(body: ForgePayload): Change[] {
  const pull = members(body['pull_request']);
  const url = urlOf(pull['html_url']);
  if (url === null) return [];
  const title = textOf(pull['title']);
  // The events of reviews have the time of the merge alone.
  const merged = pull['merged'] === true || textOf(pull['merged_at']) !== '';
  const state = merged ? 'merged' : pull['state'] === 'closed' ? 'closed' : pull['draft'] === true ? 'draft' : 'open';
  return [
    {
      kind: 'pull_request',
      commit: merged ? commitOf(pull['merge_commit_sha']) : null,
      url,
      title: titleOf(title),
      text: `${title}\n\n${textOf(pull['body'])}`,
      author: nameOf(members(pull['user'])['login']),
      state,
      landed: merged && textOf(members(pull['base'])['ref']) === defaultBranch(body),
      at: timeOf(pull['updated_at']),
    },
  ];
}
