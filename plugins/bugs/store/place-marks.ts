/**
 * Gives items of old stores the marks of where they were seen (item/place-marks.ts), from their first and last version
 * and the first occurrences that they kept. What happens again marks itself.
 */
import { pages } from '../../../lib/paging.js';
import type { Logger } from '../../../ports/logger.js';
import type { Collection } from '../../../ports/store.js';
import { slotIds } from '../item/document-ids.js';
import type { ItemDoc } from '../item/model.js';
import type { StoredOccurrence } from '../item/occurrence-documents.js';
import { unpack } from '../item/payload.js';
import { marksOf, type SeenPlace } from '../item/place-marks.js';

const BATCH = 50;
/** Occurrences of an item that are read. */
const READ = 5;

/** After an interruption it runs again, over the items that are left. */
export async function markPlaces(
  items: Collection<ItemDoc>,
  occurrences: Collection<StoredOccurrence>,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  for await (const page of pages(items, { limit: BATCH })) await markUnmarked(page, items, occurrences, log);
}

/** Marks those of the items that have no marks. */
export async function markUnmarked(
  some: readonly ItemDoc[],
  items: Collection<ItemDoc>,
  occurrences: Collection<StoredOccurrence>,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  const unmarked = some.filter(({ version_marks }) => version_marks === undefined);
  for (let i = 0; i < unmarked.length; i += BATCH) {
    const part = unmarked.slice(i, i + BATCH);
    const ids = part.flatMap(({ id }) => slotIds(id).slice(0, READ));
    const stored = await occurrences.find({ filter: { id: { in: ids } }, limit: ids.length });
    const seen = await placesOf(stored.items, log);
    await items.bulk(
      part.map(({ id, first_build, last_build }) => {
        const set = marksOf([{ app_version: first_build }, ...(seen.get(id) ?? []), { app_version: last_build }]);
        return { change: { id, version_marks: { exists: false } }, update: { set: { ...set } } };
      }),
    );
  }
}

/** Where the occurrences were seen, by their items, in their order. */
export async function placesOf(
  stored: readonly StoredOccurrence[],
  log: Pick<Logger, 'warn'>,
): Promise<ReadonlyMap<string, SeenPlace[]>> {
  const seen = new Map<string, SeenPlace[]>();
  for (const one of stored) {
    try {
      const { item_id, app_version, host } = await unpack(one, async () => null);
      seen.set(item_id, [...(seen.get(item_id) ?? []), { app_version, host }]);
    } catch (err) {
      log.warn({ err, item: one.item_id }, 'a damaged occurrence: its item is not found by its version and host');
    }
  }
  return seen;
}
