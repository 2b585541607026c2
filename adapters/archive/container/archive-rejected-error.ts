/**
 * The archive is invalid and nothing of it was put in place. `why` follows the file name in a
 * sentence.
 */
export class ArchiveRejectedError extends Error {
  override name = 'ArchiveRejected';

  constructor(readonly why: string) {
    super(`the archive ${why}`);
  }
}
