/**
 * The index itself shows which are missing, so that an interrupted process needs no repair and
 * concurrent ones do no harm.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Collection as Driver } from 'mongodb';
import { getPathValue } from '../../ports/document.js';
import { toTrigramField, extractValueTrigrams } from './trigrams.js';
import type { MongoDoc } from './translate.js';

const STEP_DOCUMENTS = 200;
const STEP_PAUSE_MS = 10;
const RETRY_DELAY_MS = 5_000;

/** Runs a step with the collection of the current client, which may have been replaced. */
type StepRunner = <V>(step: (driver: Driver<MongoDoc>) => Promise<V>) => Promise<V>;

export async function fillTrigrams(run: StepRunner, path: string, signal: AbortSignal): Promise<void> {
  for (let left = true; left && !signal.aborted;) {
    let rest = STEP_PAUSE_MS;
    try {
      left = await run((driver) => fillStep(driver, path));
    } catch {
      // The server is unreachable. Results are complete without trigrams, only slower, so retry
      // later.
      rest = RETRY_DELAY_MS;
    }
    if (left) await pause(rest, undefined, { ref: false, signal }).catch(() => undefined);
  }
}

async function fillStep(driver: Driver<MongoDoc>, path: string): Promise<boolean> {
  const field = toTrigramField(path);
  const rows = await driver.find({ [field]: null }, { projection: { [path]: 1 }, limit: STEP_DOCUMENTS }).toArray();
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
