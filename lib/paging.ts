/**
 * Reading a whole list that comes in pages. Structurally typed: a collection of the store port is one such list, and
 * whatever else answers `find` with a cursor is another. The next page is read only when the caller asks for it, so a
 * loop that stops early reads no further.
 */

interface Page<T> {
  items: T[];
  /** Cursor of the next page; null after the last one. */
  next: string | null;
}

interface Cursor {
  after?: string | null;
}

export interface Paged<T, Q extends Cursor> {
  find(query?: Q): Promise<Page<T>>;
}

/** The pages of `list` in order, from `query.after` or the beginning; at least one, which may be empty. */
export async function* iteratePages<T, Q extends Cursor>(
  list: Paged<T, Q>,
  query: Q,
): AsyncGenerator<T[], void, undefined> {
  for (let after = query.after ?? null, last = false; !last;) {
    const page = await list.find({ ...query, after });
    yield page.items;
    after = page.next;
    last = after === null;
  }
}

/** The same, one item at a time. */
export async function* each<T, Q extends Cursor>(list: Paged<T, Q>, query: Q): AsyncGenerator<T, void, undefined> {
  for await (const items of iteratePages(list, query)) yield* items;
}

/** Everything at once: for lists whose size is bounded by something else. */
export async function all<T, Q extends Cursor>(list: Paged<T, Q>, query: Q): Promise<T[]> {
  const found: T[] = [];
  for await (const items of iteratePages(list, query)) for (const item of items) found.push(item);
  return found;
}
