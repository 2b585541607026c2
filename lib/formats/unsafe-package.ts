import { printable } from '../text/printable.js';

/** A package that breaks a rule of contract 40, refused packages. */
export class UnsafePackage extends Error {
  override name = 'UnsafePackage';
  /** The entry's name as the archive has it, without control characters, cut; '' where no entry is at fault. */
  readonly entry: string;

  constructor(
    entry: string,
    /** The rest of a sentence after the entry's name: `is an absolute path`. */
    readonly why: string,
  ) {
    const name = printable(entry, 200);
    super(name === '' ? why : `${name} ${why}`);
    this.entry = name;
  }
}
