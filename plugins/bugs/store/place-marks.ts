/**
 * Gives items of old stores the marks of where they were seen (item/place-marks.ts), from their first and last version
 * and the first occurrences that they kept. What happens again marks itself.
 */
import { pages } from '../../../lib/paging.js';
import type { Collection } from '../../../ports/store.js';
import { slotIds } from '../item/document-ids.js';
import type { ItemDoc } from '../item/model.js';
import type { OccurrenceDoc, StoredOccurrence } from '../item/occurrence-documents.js';
import { unpack } from '../item/payload.js';
import { marksOf } from '../item/place-marks.js';

const BATCH = 50;
/** Occurrences of an item that are read. */
const READ = 5;

/** After an interruption it runs again, over the items that are left. */
export async function markPlaces(items: Collection<ItemDoc>, occurrences: Collection<StoredOccurrence>): Promise<void> {
  for await (const page of pages(items, { limit: BATCH })) {
    const unmarked = page.filter(({ version_marks }) => version_marks === undefined);
    if (unmarked.length === 0) continue;
    const kept = await occurrencesOf(unmarked, occurrences);
    await items.bulk(
      unmarked.map(({ id, first_build, last_build }) => {
        const seen = kept.filter(({ item_id }) => item_id === id);
        const set = marksOf([{ app_version: first_build }, ...seen, { app_version: last_build }]);
        return { change: { id, version_marks: { exists: false } }, update: { set: { ...set } } };
      }),
    );
  }
}

async function occurrencesOf(
  items: readonly ItemDoc[],
  occurrences: Collection<StoredOccurrence>,
): Promise<OccurrenceDoc[]> {
  const ids = items.flatMap(({ id }) => slotIds(id).slice(0, READ));
  const { items: stored } = await occurrences.find({ filter: { id: { in: ids } }, limit: ids.length });
  return Promise.all(stored.map((one) => unpack(one, async () => null)));
}
