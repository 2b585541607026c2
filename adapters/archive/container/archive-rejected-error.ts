/** The archive is invalid and nothing of it was put in place. */
export class ArchiveRejectedError extends Error {
  override name = 'ArchiveRejected';

  constructor(readonly why: string) {
    super(`the archive ${why}`);
  }
}
