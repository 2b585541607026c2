import { collectAll } from '../../../lib/paging.js';
import type { Collection } from '../../../ports/store/index.js';
import type { LinkDoc } from '../item/operation-documents.js';

const PAGE_SIZE = 200;
/** Larger graphs are rejected like a cycle. */
const MAX_ITEMS = 2_000;
const CHUNK_SIZE = 200;

type LinkReader = Pick<Collection<LinkDoc>, 'find'>;

export async function listItemLinks(links: LinkReader, item: string): Promise<LinkDoc[]> {
  const [from, to] = await Promise.all([
    collectAll(links, { filter: { from: item }, limit: PAGE_SIZE }),
    collectAll(links, { filter: { to: item }, limit: PAGE_SIZE }),
  ]);
  return [...from, ...to];
}

/** @returns `asked` when the cycle exists only through links that are not made yet */
export async function findBlockingCycle(
  links: LinkReader,
  { from: blocker, to: blocked }: Pick<LinkDoc, 'from' | 'to'>,
): Promise<'none' | 'asked' | 'made'> {
  if (await isReachable(links, blocked, blocker, ['made'])) return 'made';
  return (await isReachable(links, blocked, blocker, ['made', 'asked'])) ? 'asked' : 'none';
}

async function isReachable(
  links: LinkReader,
  start: string,
  goal: string,
  states: readonly string[],
): Promise<boolean> {
  const seen = new Set([start]);
  let edge = [start];
  while (edge.length > 0) {
    const chunk = edge.splice(0, CHUNK_SIZE);
    const filter = { from: { in: chunk }, kind: 'blocks', state: { in: states } };
    for (const { to } of await collectAll(links, { filter, limit: PAGE_SIZE })) {
      if (to === goal) return true;
      if (!seen.has(to)) edge.push(to);
      seen.add(to);
    }
    if (seen.size > MAX_ITEMS) return true;
  }
  return false;
}
