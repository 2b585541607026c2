/**
 * Writes the grams of documents that were there before their index, or that an earlier version wrote: a few at a time,
 * while the service answers. Which are left is asked of the index itself, so that a process that was killed leaves
 * nothing to repair, and two that do it at once do no harm.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Collection as Driver } from 'mongodb';
import { getPathValue } from '../../ports/document.js';
import { trigramField, extractValueTrigrams } from './trigrams.js';
import type { Stored } from './translate.js';

const AT_ONCE = 200;
/** Between two steps, and after a failure, in milliseconds. */
const REST_MS = 10;
const RETRY_MS = 5_000;

/** With the collection of the client that serves now, which may have been replaced since the last step. */
type Run = <V>(step: (driver: Driver<Stored>) => Promise<V>) => Promise<V>;

/** Ends when nothing is left, or with the signal. */
export async function fillTrigrams(run: Run, path: string, signal: AbortSignal): Promise<void> {
  for (let left = true; left && !signal.aborted;) {
    let rest = REST_MS;
    try {
      left = await run((driver) => step(driver, path));
    } catch {
      // The server is away. Answers are whole without the grams, only slower: it is tried again.
      rest = RETRY_MS;
    }
    if (left) await pause(rest, undefined, { ref: false, signal }).catch(() => undefined);
  }
}

/** True while there may be more. */
async function step(driver: Driver<Stored>, path: string): Promise<boolean> {
  const field = trigramField(path);
  const rows = await driver.find({ [field]: null }, { projection: { [path]: 1 }, limit: AT_ONCE }).toArray();
  if (rows.length === 0) return false;
  const { modifiedCount } = await driver.bulkWrite(
    rows.map((row) => {
      const value = getPathValue(row, path);
      // A text that was changed meanwhile brought its grams along.
      const filter = { _id: row._id, [field]: null, ...(typeof value === 'string' && { [path]: value }) };
      return { updateOne: { filter, update: { $set: { [field]: extractValueTrigrams(value) } } } };
    }),
    { ordered: false },
  );
  return modifiedCount > 0;
}
