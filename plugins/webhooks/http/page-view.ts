import { pickWarnings, type ListWarnings } from '../../../ports/store/skipped-documents.js';

export async function toPageView<T>(
  page: ListWarnings & { items: T[]; next: string | null; count: () => Promise<number> },
  query: Record<string, unknown>,
  view: (item: T) => unknown,
): Promise<object> {
  const shown = {
    items: page.items.map(view),
    next_cursor: page.next,
    has_more: page.next !== null,
    ...pickWarnings(page),
  };
  return query['include_total'] === true ? { ...shown, total: await page.count() } : shown;
}
