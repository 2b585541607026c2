import { UnsafePackage } from './unsafe-package.js';
import type { FileEntry } from './archive.js';

/** Captures one file's text during `readPackage`. */
export class PackageTextReader {
  text: string | null = null;

  constructor(
    private readonly path: string,
    private readonly maxBytes: number,
  ) {}

  readonly onFile = async ({ path, size }: FileEntry, content: AsyncIterable<Uint8Array>): Promise<void> => {
    if (path !== this.path) return;
    if (size > this.maxBytes) throw new UnsafePackage(path, `is larger than ${this.maxBytes} bytes`);
    const pieces: Uint8Array[] = [];
    for await (const piece of content) pieces.push(Buffer.from(piece));
    this.text = Buffer.concat(pieces).toString('utf8');
  };
}
