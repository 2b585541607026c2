/** The driver's errors as the port's. */
import { MongoBulkWriteError, MongoError, MongoServerError } from 'mongodb';
import { StoreConflict, StoreFull, StoreUnavailable } from '../../ports/store.js';
import { DeadlinePassed } from './deadline.js';
import { conflictOf } from './translate.js';

export const DUPLICATE_KEY = 11000;
/** BadValue, TypeMismatch, PathNotViable: the field does not hold what the operator works on. */
const UNFIT = new Set<unknown>([2, 14, 28]);
/** OutOfDiskSpace, QuotaExceeded */
const FULL = new Set<unknown>([14031, 12501]);
/** What a storage engine, a file system and hosted servers say under a code that means anything. */
const NO_ROOM = /No space left on device|Disk quota exceeded|over your space quota/i;
/**
 * HostUnreachable, HostNotFound, WriteConcernFailed (no majority in time), NetworkTimeout, ShutdownInProgress,
 * UnsatisfiableWriteConcern, PrimarySteppedDown, ExceededTimeLimit, SocketException, NotWritablePrimary,
 * InterruptedAtShutdown, InterruptedDueToReplStateChange, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary.
 */
const AWAY = new Set<unknown>([6, 7, 64, 89, 91, 100, 189, 262, 9001, 10107, 10058, 11600, 11602, 13435, 13436]);
/** No server answered, or the connection went; by name, since some of these classes are not exported. */
const UNREACHABLE =
  /^Mongo(?:Network|NetworkTimeout|ServerSelection|ServerClosed|StalePrimary|NotConnected|TopologyClosed|ClientClosed|ExpiredSession|PoolCleared|PoolClosed|WaitQueueTimeout|ConnectionPool|OperationTimeout)\w*Error$|^PoolCleared/;

/** What node says of a connection that went: the driver hands it on as it is, or as the code of its own error. */
const BROKEN = new Set<unknown>([
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
const isBroken = (error: unknown): boolean => error instanceof Error && 'code' in error && BROKEN.has(error.code);

/** No server was to be had for an operation: more of them would wait as long. */
export const isServerMissing = (error: unknown): boolean =>
  error instanceof Error && error.name === 'MongoServerSelectionError';

/** What to throw in place of what the driver threw; the same error where the port has no word for it. */
export function translated(error: unknown): unknown {
  if (isBroken(error) || error instanceof DeadlinePassed) return new StoreUnavailable({ cause: error });
  if (!(error instanceof MongoError)) return error;
  if (error instanceof MongoServerError) {
    const code = codeOf(error);
    if (code === DUPLICATE_KEY) {
      const keyPattern = error['keyPattern'] as object | undefined;
      return new StoreConflict(conflictOf({ keyPattern, message: error.message }));
    }
    if (UNFIT.has(code)) return new TypeError(error.message, { cause: error });
    if (FULL.has(code) || NO_ROOM.test(error.message)) return new StoreFull({ cause: error });
    if (AWAY.has(code)) return new StoreUnavailable({ cause: error });
    // What ended a bulk before a server answered it.
    const ended: unknown = error.errorResponse;
    if (ended instanceof MongoError) return translated(ended);
  }
  return UNREACHABLE.test(error.name) ? new StoreUnavailable({ cause: error }) : error;
}

/** Of a bulk the first that is no conflict: a conflict concerns one document, another fault all that come after it. */
function codeOf(error: MongoServerError): unknown {
  if (!(error instanceof MongoBulkWriteError)) return error.code;
  return [error.writeErrors].flat().find(({ code }) => code !== DUPLICATE_KEY)?.code ?? error.code;
}
