/**
 * Translates disk errors (contract 95, a bad day). Each write tries the disk again, so the store
 * recovers without a restart.
 */
import { DiskFull, DiskUnwritable } from '../../ports/release-store.js';
import { getErrorCode } from './durable-writes.js';

export type WriteRunner = <T>(work: () => Promise<T>) => Promise<T>;

/** @param onWriteError called for each failed write; the caller limits repeated log lines */
export function createWriteRunner(folder: string, onWriteError: (error: Error) => void = () => undefined): WriteRunner {
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      const fault = toWriteFault(folder, error);
      if (fault === null) throw error;
      onWriteError(fault);
      throw fault;
    }
  };
}

function toWriteFault(folder: string, error: unknown): Error | null {
  if (error instanceof DiskFull) return error;
  const path = (error as NodeJS.ErrnoException | null)?.path ?? folder;
  switch (getErrorCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new DiskFull(`the disk of ${folder} is full`, { cause: error });
    case 'EROFS':
      return new DiskUnwritable(`the disk of ${folder} is mounted read-only`, { cause: error });
    case 'EACCES':
    case 'EPERM':
      return new DiskUnwritable(`${path} belongs to another user, or its mode denies this user access`, {
        cause: error,
      });
    default:
      return null;
  }
}
