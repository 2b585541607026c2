import { MongoBulkWriteError, type Collection as Driver } from 'mongodb';
import { StoreConflict } from '../../ports/store/index.js';
import { DUPLICATE_KEY_CODE } from './errors.js';
import type { CallOutcome } from './gathering.js';
import { getConflictIndex, type MongoDoc } from './translate.js';

/** Null for missing ones. Ids may repeat. */
export async function getAll(
  driver: Driver<MongoDoc>,
  ids: readonly string[],
  projection: { projection?: { [field: string]: 0 } },
): Promise<CallOutcome<MongoDoc | null>[]> {
  const rows = await driver
    .find({ _id: { $in: [...new Set(ids)] } }, { batchSize: ids.length, ...projection })
    .toArray();
  const byId = new Map(rows.map((row) => [row._id, row]));
  return ids.map((id) => ({ value: byId.get(id) ?? null }));
}

/** @throws the driver's error, unless all failures were conflicts */
export async function insertAll(driver: Driver<MongoDoc>, docs: readonly MongoDoc[]): Promise<CallOutcome<void>[]> {
  return toOutcomes(docs, driver.insertMany([...docs], { ordered: false }));
}

/**
 * Of two documents with one id the later one wins.
 * @throws as `insertAll`
 */
export async function putAll(driver: Driver<MongoDoc>, docs: readonly MongoDoc[]): Promise<CallOutcome<void>[]> {
  const writes = docs.map((doc) => ({ replaceOne: { filter: { _id: doc._id }, replacement: doc, upsert: true } }));
  return toOutcomes(docs, driver.bulkWrite(writes, { ordered: false }));
}

async function toOutcomes(docs: readonly MongoDoc[], writing: Promise<unknown>): Promise<CallOutcome<void>[]> {
  const outcomes = docs.map((): CallOutcome<void> => ({ value: undefined }));
  try {
    await writing;
  } catch (error) {
    for (const [at, index] of listConflicts(error)) outcomes[at] = { error: new StoreConflict(index) };
  }
  return outcomes;
}

/**
 * Returns the conflicting documents with their index. A missing majority acknowledgment is not a
 * conflict.
 */
function listConflicts(error: unknown): [at: number, index: string][] {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const errors = [error.writeErrors].flat();
  const isMore = errors.length === 0 || errors.some(({ code }) => code !== DUPLICATE_KEY_CODE);
  if (isMore || error.result.getWriteConcernError() !== undefined) throw error;
  return errors.map(({ index, errmsg = '', err }) => {
    const keyPattern = (err as { keyPattern?: object }).keyPattern;
    return [index, getConflictIndex({ keyPattern, message: errmsg })];
  });
}
