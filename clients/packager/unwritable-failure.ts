import { dirname } from 'node:path';
import { EXIT_CODES, PackagerFailure } from './packager-failure.js';

const REASONS_BY_CODE: Readonly<Record<string, string>> = {
  EROFS: 'its file system is read-only',
  EACCES: 'this user cannot write to it',
  EPERM: 'this user cannot write to it',
  ENOSPC: 'its disk is full',
  EDQUOT: 'this user has reached the disk quota',
  ENOENT: 'it does not exist and cannot be created',
  ENOTDIR: 'a parent path is a file',
  EEXIST: 'a parent path is a file',
};

/** Adds the archive's path, because the system's error names no file or another one. */
export function toUnwritableFailure(error: unknown, path: string): unknown {
  const why = REASONS_BY_CODE[(error as NodeJS.ErrnoException).code ?? ''];
  if (why === undefined) return error;
  return new PackagerFailure(
    EXIT_CODES.error,
    `The archive cannot be written to ${dirname(path)}: ${why}. Choose another folder with --output or TMPDIR.`,
  );
}
