/** Strict gzip reader for exactly one member (RFC 1952). */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw, crc32 } from 'node:zlib';
import { ByteQueue } from './byte-queue.js';
import { UnsafePackage } from './unsafe-package.js';

const FHCRC = 2;
const FEXTRA = 4;
const FNAME = 8;
const FCOMMENT = 16;
const RESERVED = 0xe0;
const MAX_TEXT_BYTES = 4_096;
const TRAILER_BYTES = 8;
/** Small enough to not block the event loop. */
const PIECE_BYTES = 64 * 1024;

const createGzipError = (why: string): UnsafePackage => new UnsafePackage('', `The package ${why}`);

/**
 * Decompresses in chunks.
 * @throws UnsafePackage unless the file is exactly one complete member; errors of `source`
 */
export async function* gunzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const packed = new ByteQueue(source);
  try {
    await readHeader(packed);
    yield* readBody(packed);
  } finally {
    await packed.close();
  }
}

async function readHeader(packed: ByteQueue): Promise<void> {
  let crc = 0;
  const take = async (count: number): Promise<Buffer> => {
    const bytes = await packed.take(count);
    if (bytes.length < count) throw createGzipError('ends inside its gzip header');
    crc = crc32(bytes, crc);
    return bytes;
  };
  const skipText = async (): Promise<void> => {
    for (let i = 0; i < MAX_TEXT_BYTES; i++) if ((await take(1))[0] === 0) return;
    throw createGzipError('has a gzip header that is too long');
  };

  const fixed = await packed.take(10);
  if (fixed[0] !== 0x1f || fixed[1] !== 0x8b || fixed.length < 10) throw createGzipError('is not a gzip file');
  crc = crc32(fixed, crc);
  const flags = fixed[3] ?? 0;
  if (fixed[2] !== 8 || (flags & RESERVED) !== 0)
    throw createGzipError('has a gzip header with an unknown method or flag');
  if ((flags & FEXTRA) !== 0) await take((await take(2)).readUInt16LE());
  if ((flags & FNAME) !== 0) await skipText();
  if ((flags & FCOMMENT) !== 0) await skipText();
  if ((flags & FHCRC) === 0) return;
  const expected = crc & 0xffff;
  if ((await take(2)).readUInt16LE() !== expected) throw createGzipError('has a gzip header with a wrong checksum');
}

async function* readBody(packed: ByteQueue): AsyncGenerator<Buffer> {
  const body = new TrailerHoldback(packed.read());
  const inflate = createInflateRaw({ chunkSize: PIECE_BYTES });
  // A pipeline destroys both sides.
  const fed = pipeline(Readable.from(body), inflate).catch(() => undefined);
  let crc = 0;
  let size = 0;
  try {
    for await (const piece of inflate as AsyncIterable<Buffer>) {
      crc = crc32(piece, crc);
      size += piece.length;
      yield piece;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      throw createGzipError('has compressed data that is corrupt or truncated');
    throw error;
  } finally {
    inflate.destroy();
  }
  if (!body.ended || inflate.bytesWritten !== body.passed) throw createGzipError('has data after its only gzip member');
  await fed;
  if (body.held.readUInt32LE(0) !== crc) throw createGzipError('has a wrong CRC');
  if (body.held.readUInt32LE(4) !== size % 2 ** 32) throw createGzipError('has a wrong size at its end');
}

/** Passes on all but the last eight bytes, the trailer of a final member. */
class TrailerHoldback implements AsyncIterable<Buffer> {
  held: Buffer = Buffer.alloc(0);
  ended = false;
  passed = 0;

  constructor(private readonly source: AsyncIterable<Buffer>) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for await (const chunk of this.source) {
      const whole = chunk.length >= TRAILER_BYTES ? [this.held, chunk] : [Buffer.concat([this.held, chunk])];
      const last = whole.pop() ?? chunk;
      const cut = Math.max(0, last.length - TRAILER_BYTES);
      for (const piece of [...whole, last.subarray(0, cut)]) {
        this.passed += piece.length;
        if (piece.length > 0) yield piece;
      }
      this.held = Buffer.from(last.subarray(cut));
    }
    if (this.held.length < TRAILER_BYTES) throw createGzipError('ends before its trailer');
    this.ended = true;
  }
}
