/** An encoder per slow reader would hold several megabytes each; few run concurrently. */
import { once } from 'node:events';
import { constants, createBrotliCompress, createDeflate, createGzip } from 'node:zlib';
import { SharedBytes } from '../../../ports/http/index.js';
import { FairSlots } from '../limits/fair-slots.js';

/** As fast as gzip; the maximum is for files compressed at build time. */
export const FAST_BROTLI_OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const ENCODERS = {
  br: () => createBrotliCompress(FAST_BROTLI_OPTIONS),
  gzip: () => createGzip(),
  deflate: () => createDeflate(),
} as const;
export type ContentEncoding = keyof typeof ENCODERS;

export const isContentEncoding = (name: string): name is ContentEncoding => Object.hasOwn(ENCODERS, name);

const MAX_CONCURRENT_COMPRESSIONS = 4;
const PIECE_BYTES = 64 * 1024;

export class Compressor {
  readonly #slots = new FairSlots(MAX_CONCURRENT_COMPRESSIONS);
  readonly #made = new WeakMap<SharedBytes, Map<ContentEncoding, Promise<SharedBytes>>>();

  async compress(
    encoding: ContentEncoding,
    body: Buffer | SharedBytes,
    address: string,
  ): Promise<Buffer | SharedBytes> {
    if (Buffer.isBuffer(body)) return this.#slots.run(address, () => compressBody(encoding, body));
    const made = this.#made.get(body) ?? new Map<ContentEncoding, Promise<SharedBytes>>();
    this.#made.set(body, made);
    // Concurrent requests share the pending result.
    const known = made.get(encoding);
    if (known !== undefined) return known;
    const making = this.#slots.run(address, async () => new SharedBytes([await compressBody(encoding, body)]));
    made.set(encoding, making);
    making.catch(() => made.delete(encoding));
    return making;
  }
}

async function compressBody(encoding: ContentEncoding, body: Buffer | SharedBytes): Promise<Buffer> {
  const encoder = ENCODERS[encoding]();
  const pieces: Buffer[] = [];
  encoder.on('data', (piece: Buffer) => pieces.push(piece));
  const ended = once(encoder, 'end');
  // Avoids an unhandled rejection.
  ended.catch(() => undefined);
  for (const part of body instanceof SharedBytes ? body.parts : [body]) {
    for (let at = 0; at < part.length; at += PIECE_BYTES) {
      if (!encoder.write(part.subarray(at, at + PIECE_BYTES))) await once(encoder, 'drain');
    }
  }
  encoder.end();
  await ended;
  return Buffer.concat(pieces);
}
