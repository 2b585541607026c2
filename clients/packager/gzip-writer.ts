/** Compressed in JavaScript, because Node's output differs between versions and processors. */
import { Deflate } from 'pako';

const COMPRESSION_LEVEL = 6;

export async function* compressGzip(content: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  const deflate = new Deflate({ gzip: true, level: COMPRESSION_LEVEL });
  let pieces: Uint8Array[] = [];
  deflate.onData = (piece) => {
    pieces.push(piece);
  };
  const push = (bytes: Uint8Array, last: boolean): Uint8Array[] => {
    deflate.push(bytes, last);
    if (deflate.err !== 0) throw new Error(`deflate: ${deflate.msg}`);
    const made = pieces;
    pieces = [];
    return made;
  };
  for await (const bytes of content) yield* push(bytes, false);
  yield* push(new Uint8Array(0), true);
}
