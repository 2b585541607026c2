/** Iterates lists that are paged by cursor. */

interface Page<T> {
  items: T[];
  next: string | null;
}

interface Cursor {
  after?: string | null;
}

export interface PagedList<T, Q extends Cursor> {
  find(query?: Q): Promise<Page<T>>;
}

/** Iterates the pages from `query.after`; at least one, possibly empty. */
export async function* iteratePages<T, Q extends Cursor>(
  list: PagedList<T, Q>,
  query: Q,
): AsyncGenerator<T[], void, undefined> {
  for (let after = query.after ?? null, last = false; !last;) {
    const page = await list.find({ ...query, after });
    yield page.items;
    after = page.next;
    last = after === null;
  }
}

/** Iterates the items. */
export async function* iterateItems<T, Q extends Cursor>(
  list: PagedList<T, Q>,
  query: Q,
): AsyncGenerator<T, void, undefined> {
  for await (const items of iteratePages(list, query)) yield* items;
}

/** Returns all items of a bounded list. */
export async function collectAll<T, Q extends Cursor>(list: PagedList<T, Q>, query: Q): Promise<T[]> {
  const found: T[] = [];
  for await (const items of iteratePages(list, query)) for (const item of items) found.push(item);
  return found;
}
