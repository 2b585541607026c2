/**
 * An archive that is not what it should be: nothing of it was put in place. `why` follows the name of its file in a
 * sentence.
 */
export class ArchiveRejected extends Error {
  override name = 'ArchiveRejected';

  constructor(readonly why: string) {
    super(`the archive ${why}`);
  }
}
