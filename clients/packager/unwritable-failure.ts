import { dirname } from 'node:path';
import { EXIT_CODES, PackagerFailure } from './packager-failure.js';

const REASONS_BY_CODE: Readonly<Record<string, string>> = {
  EROFS: 'its file system is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  ENOSPC: 'its disk is full',
  EDQUOT: 'this user may use no more of its disk',
  ENOENT: 'it is not there, and cannot be made',
  ENOTDIR: 'a file lies in its way',
  EEXIST: 'a file lies in its way',
};

/** Adds the archive's path, because the system's error names no file or another one. */
export function toUnwritableFailure(error: unknown, path: string): unknown {
  const why = REASONS_BY_CODE[(error as NodeJS.ErrnoException).code ?? ''];
  if (why === undefined) return error;
  return new PackagerFailure(
    EXIT_CODES.error,
    `The archive cannot be written to ${dirname(path)}: ${why}. --output names another folder; without it TMPDIR does.`,
  );
}
