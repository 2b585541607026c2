import { MongoBulkWriteError, MongoError, MongoServerError } from 'mongodb';
import { StoreConflict, StoreFull, StoreUnavailable } from '../../ports/store/index.js';
import { DeadlineExceededError } from './deadline.js';
import { getConflictIndex } from './translate.js';

export const DUPLICATE_KEY_CODE = 11000;
/** BadValue, TypeMismatch, PathNotViable: the field has the wrong type for the operator. */
const TYPE_MISMATCH_CODES = new Set<unknown>([2, 14, 28]);
const DISK_FULL_CODES = new Set<unknown>([14031, 12501]);
/** Messages of storage engines, file systems and hosted servers without a specific code. */
const DISK_FULL_PATTERN = /No space left on device|Disk quota exceeded|over your space quota/i;
/**
 * HostUnreachable, HostNotFound, WriteConcernFailed (no majority in time), NetworkTimeout,
 * ShutdownInProgress, UnsatisfiableWriteConcern, PrimarySteppedDown, ExceededTimeLimit,
 * SocketException, NotWritablePrimary, InterruptedAtShutdown, InterruptedDueToReplStateChange,
 * NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary.
 */
const UNAVAILABLE_CODES = new Set<unknown>([
  6, 7, 64, 89, 91, 100, 189, 262, 9001, 10107, 10058, 11600, 11602, 13435, 13436,
]);
/**
 * No server or a lost connection; matched by name, because some of these classes are not exported.
 */
const UNREACHABLE_NAME_PATTERN =
  /^Mongo(?:Network|NetworkTimeout|ServerSelection|ServerClosed|StalePrimary|NotConnected|TopologyClosed|ClientClosed|ExpiredSession|PoolCleared|PoolClosed|WaitQueueTimeout|ConnectionPool|OperationTimeout)\w*Error$|^PoolCleared/;

/** The driver passes them on directly or in its own error. */
const BROKEN_CONNECTION_CODES = new Set<unknown>([
  'EPIPE',
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'ETIMEDOUT',
  'ENOTCONN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_SOCKET_CLOSED',
]);
const isBrokenConnection = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && BROKEN_CONNECTION_CODES.has(error.code);

/** Further operations would wait as long. */
export const isServerMissing = (error: unknown): boolean =>
  error instanceof Error && error.name === 'MongoServerSelectionError';

export function toStoreError(error: unknown): unknown {
  if (isBrokenConnection(error) || error instanceof DeadlineExceededError)
    return new StoreUnavailable({ cause: error });
  if (!(error instanceof MongoError)) return error;
  if (error instanceof MongoServerError) {
    const code = getErrorCode(error);
    if (code === DUPLICATE_KEY_CODE) {
      const keyPattern = error['keyPattern'] as object | undefined;
      return new StoreConflict(getConflictIndex({ keyPattern, message: error.message }));
    }
    if (TYPE_MISMATCH_CODES.has(code)) return new TypeError(error.message, { cause: error });
    if (DISK_FULL_CODES.has(code) || DISK_FULL_PATTERN.test(error.message)) return new StoreFull({ cause: error });
    if (UNAVAILABLE_CODES.has(code)) return new StoreUnavailable({ cause: error });
    const ended: unknown = error.errorResponse;
    if (ended instanceof MongoError) return toStoreError(ended);
  }
  return UNREACHABLE_NAME_PATTERN.test(error.name) ? new StoreUnavailable({ cause: error }) : error;
}

/**
 * In a bulk, the first error that is not a conflict: conflicts concern one document, other errors
 * all later ones.
 */
function getErrorCode(error: MongoServerError): unknown {
  if (!(error instanceof MongoBulkWriteError)) return error.code;
  return [error.writeErrors].flat().find(({ code }) => code !== DUPLICATE_KEY_CODE)?.code ?? error.code;
}
