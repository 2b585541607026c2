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

/**
 * @param event value of `X-GitHub-Event` or `X-Gitea-Event`; irrelevant events return no changes
 */
export function parseGithubChanges(event: string, body: ForgePayload): DeliveredChange[] {
  if (event === 'push') return parsePush(body, getDefaultBranch(body));
  return event.startsWith('pull_request') ? parsePullRequest(body) : [];
}

const getDefaultBranch = (body: ForgePayload): string | null =>
  toPayloadText(toPayloadFields(body['repository'])['default_branch']) || null;

function parsePullRequest(body: ForgePayload): DeliveredChange[] {
  const pull = toPayloadFields(body['pull_request']);
  const url = parsePageUrl(pull['html_url']);
  if (url === null) return [];
  const title = toPayloadText(pull['title']);
  // Review events only have the merge time.
  const merged = pull['merged'] === true || toPayloadText(pull['merged_at']) !== '';
  const state = merged ? 'merged' : pull['state'] === 'closed' ? 'closed' : pull['draft'] === true ? 'draft' : 'open';
  return [
    {
      kind: 'pull_request',
      commit: merged ? parseCommit(pull['merge_commit_sha']) : null,
      url,
      title: parseTitle(title),
      text: `${title}\n\n${toPayloadText(pull['body'])}`,
      author: findName(toPayloadFields(pull['user'])['login']),
      state,
      landed: merged && toPayloadText(toPayloadFields(pull['base'])['ref']) === getDefaultBranch(body),
      at: parseTime(pull['updated_at']),
    },
  ];
}
