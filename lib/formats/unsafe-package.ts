import { toPrintable } from '../text/printable.js';

/** A package violates contract 40, refused packages. */
export class UnsafePackage extends Error {
  override name = 'UnsafePackage';
  /** Entry name without control characters, truncated; '' when no entry is at fault. */
  readonly entry: string;

  constructor(
    entry: string,
    /** Continues the sentence after the entry's name: `is an absolute path`. */
    readonly why: string,
  ) {
    const name = toPrintable(entry, 200);
    super(name === '' ? why : `${name} ${why}`);
    this.entry = name;
  }
}
