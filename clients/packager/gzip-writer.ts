/**
 * A gzip file of one member with fixed header fields, compressed in pieces of one size by several threads: the same
 * bytes for the same content, however many threads there are.
 */
import { crc32 } from 'node:zlib';
import { deflated } from './deflate.js';
import { DeflatePool } from './deflate-pool.js';

const PIECE_BYTES = 1024 * 1024;
/** No name, no time, no system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** For less than a piece no thread is worth its start. */
const HERE: Pick<DeflatePool, 'threads' | 'deflate' | 'close'> = {
  threads: 1,
  deflate: async (bytes, last) => deflated(bytes, last),
  close: async () => {},
};

/** @param size of the content, about: it decides how many threads are worth starting */
export async function* gzipOf(content: AsyncIterable<Buffer>, size: number): AsyncGenerator<Uint8Array> {
  const pool = size < PIECE_BYTES ? HERE : new DeflatePool(Math.ceil(size / PIECE_BYTES));
  try {
    yield HEADER;
    const pending: Promise<Uint8Array>[] = [];
    let crc = 0;
    let total = 0;
    for await (const { bytes, last } of pieces(content)) {
      crc = crc32(bytes, crc);
      total += bytes.length;
      const piece = pool.deflate(bytes, last);
      // Whoever waits for it below sees its failure; until then nobody does.
      piece.catch(() => undefined);
      pending.push(piece);
      if (pending.length > pool.threads * 2) yield* taken(pending.shift());
    }
    for (const piece of pending) yield* taken(piece);
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc, 0);
    trailer.writeUInt32LE(total % 2 ** 32, 4);
    yield trailer;
  } finally {
    await pool.close();
  }
}

async function* taken(piece: Promise<Uint8Array> | undefined): AsyncGenerator<Uint8Array> {
  if (piece !== undefined) yield await piece;
}

/** Of one size each, in memory of their own; the last one is told apart. */
async function* pieces(
  content: AsyncIterable<Buffer>,
): AsyncGenerator<{ bytes: Uint8Array<ArrayBuffer>; last: boolean }> {
  let bytes = new Uint8Array(PIECE_BYTES);
  let filled = 0;
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length;) {
      if (filled === PIECE_BYTES) {
        yield { bytes, last: false };
        bytes = new Uint8Array(PIECE_BYTES);
        filled = 0;
      }
      const part = chunk.subarray(at, at + PIECE_BYTES - filled);
      bytes.set(part, filled);
      filled += part.length;
      at += part.length;
    }
  }
  yield { bytes: bytes.slice(0, filled), last: true };
}
