/**
 * Makes what earlier versions stored findable by all that `q` searches (contract 20, endpoints): the file and the
 * transaction of every item, descriptions and comments. After an interruption it runs again from the beginning.
 */
import { pages } from '../../../lib/paging.js';
import type { Logger } from '../../../ports/logger.js';
import type { Collection } from '../../../ports/store.js';
import { slotId } from '../item/document-ids.js';
import type { ItemDoc } from '../item/model.js';
import type { StoredOccurrence } from '../item/occurrence-documents.js';
import { unpack } from '../item/payload.js';
import { isShort, searchable, searchText, transactionIn } from '../text/search-text.js';
import { Words, type WordsDeps } from './words.js';

const BATCH = 200;

export interface OlderDeps extends WordsDeps {
  occurrences: Collection<StoredOccurrence>;
  log: Logger;
}

export async function olderWords(deps: OlderDeps): Promise<void> {
  const words = new Words(deps);
  for await (const page of pages(deps.items, { limit: BATCH })) {
    await tellPlaces(
      deps,
      page.filter(({ search_text }) => isShort(search_text)),
    );
    for (const id of await withSaid(deps, page)) await words.refresh(id);
  }
}

/** Stores searched texts in the form in which they are searched since (`searchable`). */
export async function composeWords({ items, words }: Pick<OlderDeps, 'items' | 'words'>): Promise<void> {
  for await (const page of pages(items, { limit: BATCH }))
    await items.bulk(
      page
        .filter(({ search_text }) => searchable(search_text) !== search_text)
        .map(({ id, search_text }) => ({
          change: { id, search_text },
          update: { set: { search_text: searchable(search_text) } },
        })),
    );
  for await (const page of pages(words, { limit: BATCH }))
    await words.bulk(
      page
        .filter(({ text }) => searchable(text) !== text)
        .map(({ id, n, text }) => ({ change: { id, n }, update: { set: { text: searchable(text) }, inc: { n: 1 } } })),
    );
}

/** Adds file and transaction to the items' own texts. */
export async function tellPlaces(
  deps: Pick<OlderDeps, 'items' | 'occurrences' | 'log'>,
  items: readonly ItemDoc[],
): Promise<void> {
  if (items.length === 0) return;
  const routes = await transactionsOf(deps, items);
  await deps.items.bulk(
    items.map(({ id, search_text, title, file_path }) => {
      const [, error_message, exception_class] = search_text.split('\u001f');
      const text = searchText({ title, error_message, exception_class, file_path, transaction: routes.get(id) });
      // A process of the earlier version may change a title meanwhile.
      return { change: { id, search_text }, update: { set: { search_text: text } } };
    }),
  );
}

async function transactionsOf({ occurrences, log }: Pick<OlderDeps, 'occurrences' | 'log'>, items: readonly ItemDoc[]) {
  const ids = items.map(({ id }) => slotId(id, 0));
  const first = await occurrences.find({ filter: { id: { in: ids } }, limit: ids.length });
  const routes = new Map<string, string | null>();
  for (const stored of first.items) {
    try {
      const { item_id, context } = await unpack(stored, async () => null);
      routes.set(item_id, transactionIn(context));
    } catch (err) {
      log.warn({ err, item: stored.item_id }, 'a damaged occurrence: its transaction is not searched');
    }
  }
  return routes;
}

/** Ids of the items with a description or comments. */
export async function withSaid(
  { texts, comments }: Pick<OlderDeps, 'texts' | 'comments'>,
  items: readonly ItemDoc[],
): Promise<Set<string>> {
  const ids = items.map(({ id }) => id);
  if (ids.length === 0) return new Set();
  const described = await texts.find({ filter: { id: { in: ids }, description: { exists: true } }, limit: ids.length });
  const commented = await comments.groupCount('item_id', { item_id: { in: ids } });
  return new Set([...described.items.map(({ id }) => id), ...commented.map(({ key }) => String(key))]);
}
