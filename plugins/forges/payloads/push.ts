/** A push, which all forges describe alike. Pure. */
import type { Change } from './change.js';
import { commitOf, listOf, members, nameOf, textOf, timeOf, titleOf, urlOf, type ForgePayload } from './reading.js';

const BRANCH = 'refs/heads/';

/** @param branch the default one; null where the body does not name it */
export function parsePush(body: ForgePayload, branch: string | null): Change[] {
  const ref = textOf(body['ref']);
  if (!ref.startsWith(BRANCH)) return [];
  const landed = branch !== null && ref === BRANCH + branch;
  return listOf(body['commits']).flatMap((one) => {
    const commit = members(one);
    const sha = commitOf(commit['id']);
    if (sha === null) return [];
    const author = members(commit['author']);
    const text = textOf(commit['message']);
    return {
      kind: 'commit',
      commit: sha,
      url: urlOf(commit['url']),
      title: titleOf(text),
      text,
      author: nameOf(author['username'], author['name'], members(body['sender'])['login'], body['user_username']),
      state: landed ? 'merged' : 'pushed',
      landed,
      at: timeOf(commit['timestamp']),
    };
  });
}
