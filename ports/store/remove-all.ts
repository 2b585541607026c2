/** Removes much in steps, so that a write of others waits for few removals. */
import type { Collection, Doc, Filter } from '../store.js';

const AT_ONCE = 500;

/** All that fits, or as much as there is time for. Answers how many. */
export async function removeAll<T extends Doc>(
  rows: Pick<Collection<T>, 'remove'>,
  filter: Filter,
  signal?: AbortSignal,
): Promise<number> {
  let n = 0;
  let removed = AT_ONCE;
  while (removed === AT_ONCE) {
    if (signal?.aborted === true) break;
    removed = await rows.remove(filter, AT_ONCE);
    n += removed;
  }
  return n;
}
