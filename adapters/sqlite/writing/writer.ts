/**
 * The only connection that writes, with group commit: all waiting operations run in one transaction
 * and are answered after its COMMIT.
 */
import { Connection, type ConnectionOptions } from '../connection/connection.js';
import { unavailableBecause } from '../driver/driver.js';
import { checkFormat } from '../schema/format.js';
import { located } from '../reading/located.js';
import type { RequestService } from '../threads/executor.js';
import { collectionsOf, outcomeOf, type Outcome, type WriteRequest } from '../threads/messages.js';
import { isOfOne, performWrite, Undone } from './perform.js';

const MAX_BATCH = 256;

/**
 * Conflicts and programming errors concern one operation; other errors (disk full, I/O) the whole
 * transaction.
 */
function attempt(connection: Connection, request: WriteRequest, careful: boolean): Outcome {
  try {
    return { value: performWrite(connection, request, careful) };
  } catch (error) {
    if (isOfOne(error)) return outcomeOf(error);
    throw error;
  }
}

/**
 * When a transaction fails as a whole, its operations are repeated one by one, so that only the bad
 * one fails.
 */
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
