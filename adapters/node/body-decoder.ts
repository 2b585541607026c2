import zlib from 'node:zlib';
import type { Transform } from 'node:stream';

const SYNC_FLUSH_OPTIONS = { finishFlush: zlib.constants.Z_SYNC_FLUSH };

/** @param body distinguishes the zlib and raw variants of `deflate` */
function createDecompressor(encoding: string, body: Buffer): Transform | null {
  if (encoding === 'gzip' || encoding === 'x-gzip') return zlib.createGunzip(SYNC_FLUSH_OPTIONS);
  if (encoding === 'br') return zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH });
  if (encoding !== 'deflate') return null;
  return ((body[0] ?? 0) & 0x0f) === 8
    ? zlib.createInflate(SYNC_FLUSH_OPTIONS)
    : zlib.createInflateRaw(SYNC_FLUSH_OPTIONS);
}

function decompress(body: Buffer, through: Transform, maxBytes: number): Promise<{ body: Buffer; truncated: boolean }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    through.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= maxBytes) return;
      resolve({ body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: true });
      through.destroy();
    });
    through.on('end', () => resolve({ body: Buffer.concat(chunks), truncated: false }));
    through.on('error', reject);
    through.end(body);
  });
}

const MAX_ENCODINGS = 5;

export interface DecodedBody {
  body: Buffer;
  truncated: boolean;
  /** The encoding that could not be decoded; null when the body was decoded. */
  undecodable: string | null;
}

/** @param encodings value of the `Content-Encoding` header */
export async function decodeBody(body: Buffer, encodings: string, maxBytes: number): Promise<DecodedBody> {
  let found = { body, truncated: false };
  const names = encodings
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MAX_ENCODINGS) return { body, truncated: false, undecodable: names.join(', ') };
  for (const encoding of names.toReversed()) {
    if (found.body.length === 0) break;
    const through = createDecompressor(encoding, found.body);
    if (through === null) return { body, truncated: false, undecodable: encoding };
    try {
      const { body: next, truncated } = await decompress(found.body, through, maxBytes);
      found = { body: next, truncated: found.truncated || truncated };
    } catch {
      return { body, truncated: false, undecodable: encoding };
    }
  }
  return { ...found, undecodable: null };
}
