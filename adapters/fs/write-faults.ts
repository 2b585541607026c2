/**
 * Turns the errors of a disk that takes no writes into the errors of the port (contract 95, a bad day). Each write
 * tries the disk anew, so the store serves again with the first write after the repair.
 */
import { DiskFull, DiskUnwritable } from '../../ports/release-store.js';
import { codeOf } from './durable.js';

/** Runs work that writes. */
export type Writing = <T>(work: () => Promise<T>) => Promise<T>;

/** @param tell hears of each failed write; logging the same line once a minute is enough */
export function writingTo(folder: string, tell: (error: Error) => void = () => undefined): Writing {
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      const fault = writeFault(folder, error);
      if (fault === null) throw error;
      tell(fault);
      throw fault;
    }
  };
}

/** Null for an error that is no write fault. */
function writeFault(folder: string, error: unknown): Error | null {
  if (error instanceof DiskFull) return error;
  const path = (error as NodeJS.ErrnoException | null)?.path ?? folder;
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new DiskFull(`the disk of ${folder} is full`, { cause: error });
    case 'EROFS':
      return new DiskUnwritable(`the disk of ${folder} is mounted read-only`, { cause: error });
    case 'EACCES':
    case 'EPERM':
      return new DiskUnwritable(`${path} belongs to another user, or its modes refuse this one`, { cause: error });
    default:
      return null;
  }
}
