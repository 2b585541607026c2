import type { DeliveredChange } from './change.js';
import {
  parseCommit,
  toPayloadList,
  toPayloadFields,
  findName,
  toPayloadText,
  parseTime,
  parseTitle,
  parsePageUrl,
  type ForgePayload,
} from './fields.js';

const BRANCH_PREFIX = 'refs/heads/';

/** @param branch the default branch; null when the body omits it */
export function parsePush(body: ForgePayload, branch: string | null): DeliveredChange[] {
  const ref = toPayloadText(body['ref']);
  if (!ref.startsWith(BRANCH_PREFIX)) return [];
  const landed = branch !== null && ref === BRANCH_PREFIX + branch;
  return toPayloadList(body['commits']).flatMap((one) => {
    const commit = toPayloadFields(one);
    const sha = parseCommit(commit['id']);
    if (sha === null) return [];
    const author = toPayloadFields(commit['author']);
    const text = toPayloadText(commit['message']);
    return {
      kind: 'commit',
      commit: sha,
      url: parsePageUrl(commit['url']),
      title: parseTitle(text),
      text,
      author: findName(
        author['username'],
        author['name'],
        toPayloadFields(body['sender'])['login'],
        body['user_username'],
      ),
      state: landed ? 'merged' : 'pushed',
      landed,
      at: parseTime(commit['timestamp']),
    };
  });
}
