/**
 * The only connection that writes, and its group commit. All operations that wait run in one transaction and are
 * answered after its COMMIT: with a commit each the disk would allow some hundreds a second.
 */
import { Connection, type ConnectionOptions } from '../connection/connection.js';
import { unavailableBecause } from '../driver/driver.js';
import { checkFormat } from '../schema/format.js';
import { located } from '../reading/located.js';
import type { RequestService } from '../threads/executor.js';
import { collectionsOf, outcomeOf, type Outcome, type WriteRequest } from '../threads/messages.js';
import { isOfOne, performWrite, Undone } from './perform.js';

/** Operations in one transaction. */
const MAX_BATCH = 256;

/** Conflicts and programming errors concern one operation; anything else (disk full, I/O) the transaction. */
function attempt(connection: Connection, request: WriteRequest, careful: boolean): Outcome {
  try {
    return { value: performWrite(connection, request, careful) };
  } catch (error) {
    if (isOfOne(error)) return outcomeOf(error);
    throw error;
  }
}

/** When a transaction fails as a whole, its operations run again one by one: one bad operation fails alone. */
export function commit(connection: Connection, batch: readonly WriteRequest[], careful = false): Outcome[] {
  try {
    const outcomes = connection.transaction(() => batch.map((request) => attempt(connection, request, careful)));
    connection.doubtful = false;
    return outcomes;
  } catch (error) {
    connection.doubtful ||= unavailableBecause(error) !== undefined;
    if (error instanceof Undone) return commit(connection, batch, true);
    const [only] = batch;
    if (only !== undefined && batch.length === 1) {
      const names = [...new Set(collectionsOf(only))];
      const [name = ''] = names;
      return [outcomeOf(names.length === 1 ? located(connection, name, error) : error, names.join(' or '))];
    }
    return batch.flatMap((request) => commit(connection, [request]));
  }
}

/** @throws SQLite's error when the file cannot be opened */
export function openWriter(options: ConnectionOptions): RequestService<WriteRequest> {
  const connection = new Connection(options);
  checkFormat(connection);
  return { answer: (batch) => commit(connection, batch), close: () => connection.close(), most: MAX_BATCH };
}
