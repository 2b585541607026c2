import { createInflateRaw, type InflateRaw } from 'node:zlib';
import { SourceMapRejected, type PackedFile } from '../../ports/source-map-reader.js';
import { getHeaderBytes } from './zip.js';

const CHUNK_BYTES = 256 * 1024;

export class StreamingUnpacker {
  readonly #target: Buffer;
  readonly #inflate: InflateRaw | null;
  #failure: SourceMapRejected | null = null;
  #length = 0;
  /** Remaining bytes of the packed file; -1 before its header has arrived. */
  #left: number;

  constructor(
    { form, size, packed }: PackedFile,
    private readonly most: number,
  ) {
    const fits = size <= most && packed <= most;
    if (!fits) this.#failure = new SourceMapRejected(`is larger than ${most} bytes`);
    this.#target = Buffer.allocUnsafeSlow(fits ? size : 0);
    this.#packed = packed;
    this.#left = form === 'plain' ? packed : -1;
    this.#inflate = form === 'deflated' && fits ? createInflateRaw({ chunkSize: CHUNK_BYTES }) : null;
    this.#inflate?.on('data', (bytes: Buffer) => this.#append(bytes)).on('error', () => this.#fail('is damaged'));
  }

  readonly #packed: number;

  async add(given: Buffer): Promise<void> {
    if (this.#failure !== null) return;
    let part = given;
    if (this.#left < 0) {
      const header = getHeaderBytes(part);
      if (header === null) return this.#fail('is damaged');
      part = part.subarray(header);
      this.#left = this.#packed;
    }
    part = part.subarray(0, this.#left);
    this.#left -= part.length;
    const inflate = this.#inflate;
    if (inflate === null) return this.#append(part);
    await new Promise<void>((resolve) => {
      const done = (): void => {
        inflate.off('close', done);
        resolve();
      };
      inflate.on('close', done).write(part, done);
    });
  }

  /**
   * Returns the whole file.
   * @throws MapRefused
   */
  async end(): Promise<Buffer> {
    if (this.#failure === null && this.#left !== 0) this.#fail('is damaged');
    const inflate = this.#inflate;
    if (this.#failure === null && inflate !== null) {
      await new Promise<void>((resolve) => {
        inflate.on('close', resolve).on('end', resolve).end();
      });
    }
    if (this.#failure !== null) throw this.#failure;
    return this.#target.subarray(0, this.#length);
  }

  #append(bytes: Buffer): void {
    if (this.#length + bytes.length > this.#target.length)
      return this.#fail(`is larger than its declared size, or than ${this.most} bytes`);
    bytes.copy(this.#target, this.#length);
    this.#length += bytes.length;
  }

  #fail(why: string): void {
    this.#failure ??= new SourceMapRejected(why);
    this.#inflate?.destroy();
  }
}
