/**
 * The only connection that writes, with group commit: all waiting operations run in one transaction
 * and are answered after its COMMIT.
 */
import { Connection, type ConnectionOptions } from '../connection/connection.js';
import { getUnavailableReason } from '../driver/driver.js';
import { checkFormatVersion } from '../schema/format.js';
import { locateDamage } from '../reading/damage-locator.js';
import type { RequestService } from '../threads/executor.js';
import { listCollections, toOutcome, type RequestOutcome, type WriteRequest } from '../threads/messages.js';
import { isOperationError, performWrite, TransactionAbortedError } from './write-requests.js';

const MAX_BATCH = 256;

/** Conflicts and programming errors concern one operation; other errors the whole transaction. */
function runRequest(connection: Connection, request: WriteRequest, careful: boolean): RequestOutcome {
  try {
    return { value: performWrite(connection, request, careful) };
  } catch (error) {
    if (isOperationError(error)) return toOutcome(error);
    throw error;
  }
}

/**
 * When a transaction fails as a whole, its operations are repeated one by one, so that only the bad
 * one fails.
 */
export function commitBatch(connection: Connection, batch: readonly WriteRequest[], careful = false): RequestOutcome[] {
  try {
    const outcomes = connection.runTransaction(() => batch.map((request) => runRequest(connection, request, careful)));
    connection.isWriteDoubtful = false;
    return outcomes;
  } catch (error) {
    connection.isWriteDoubtful ||= getUnavailableReason(error) !== undefined;
    if (error instanceof TransactionAbortedError) return commitBatch(connection, batch, true);
    const [only] = batch;
    if (only !== undefined && batch.length === 1) {
      const names = [...new Set(listCollections(only))];
      const [name = ''] = names;
      return [toOutcome(names.length === 1 ? locateDamage(connection, name, error) : error, names.join(' or '))];
    }
    return batch.flatMap((request) => commitBatch(connection, [request]));
  }
}

/** @throws SQLite's error when the file cannot be opened */
export function openWriter(options: ConnectionOptions): RequestService<WriteRequest> {
  const connection = new Connection(options);
  checkFormatVersion(connection);
  return { answer: (batch) => commitBatch(connection, batch), close: () => connection.close(), most: MAX_BATCH };
}
