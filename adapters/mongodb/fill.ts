/**
 * Writes missing trigrams of existing documents in small steps while the service runs. The index
 * itself shows which are missing, so that an interrupted process needs no repair and concurrent
 * ones do no harm.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Collection as Driver } from 'mongodb';
import { getPathValue } from '../../ports/document.js';
import { trigramField, extractValueTrigrams } from './trigrams.js';
import type { Stored } from './translate.js';

const AT_ONCE = 200;
const REST_MS = 10;
const RETRY_MS = 5_000;

/** Runs a step with the collection of the current client, which may have been replaced. */
type Run = <V>(step: (driver: Driver<Stored>) => Promise<V>) => Promise<V>;

export async function fillTrigrams(run: Run, path: string, signal: AbortSignal): Promise<void> {
  for (let left = true; left && !signal.aborted;) {
    let rest = REST_MS;
    try {
      left = await run((driver) => step(driver, path));
    } catch {
      // The server is unreachable. Results are complete without trigrams, only slower, so retry
      // later.
      rest = RETRY_MS;
    }
    if (left) await pause(rest, undefined, { ref: false, signal }).catch(() => undefined);
  }
}

async function step(driver: Driver<Stored>, path: string): Promise<boolean> {
  const field = trigramField(path);
  const rows = await driver.find({ [field]: null }, { projection: { [path]: 1 }, limit: AT_ONCE }).toArray();
  if (rows.length === 0) return false;
  const { modifiedCount } = await driver.bulkWrite(
    rows.map((row) => {
      const value = getPathValue(row, path);
      // A concurrent change of the text writes its trigrams itself.
      const filter = { _id: row._id, [field]: null, ...(typeof value === 'string' && { [path]: value }) };
      return { updateOne: { filter, update: { $set: { [field]: extractValueTrigrams(value) } } } };
    }),
    { ordered: false },
  );
  return modifiedCount > 0;
}
