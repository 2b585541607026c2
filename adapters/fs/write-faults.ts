/**
 * Translates disk errors of failed writes to the port's errors (contract 95, a bad day). Each write
 * tries the disk again, so the store recovers without a restart.
 */
import { DiskFull, DiskUnwritable } from '../../ports/release-store.js';
import { codeOf } from './durable.js';

export type Writing = <T>(work: () => Promise<T>) => Promise<T>;

/** @param tell called for each failed write; the caller limits repeated log lines */
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
