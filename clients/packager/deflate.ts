/**
 * Compresses one piece. By a compressor in JavaScript, since node's own gives other bytes with other versions of node
 * and on other processors, and a package has to be the same wherever it is built.
 */
import { Deflate } from 'pako';

const LEVEL = 6;
const Z_FULL_FLUSH = 3;
const Z_FINISH = 4;

/** A piece of a raw deflate stream, which may follow any other. */
export function deflated(bytes: Uint8Array, last: boolean): Uint8Array<ArrayBuffer> {
  const deflate = new Deflate({ raw: true, level: LEVEL, chunkSize: bytes.length + 1_024 });
  const pieces: Uint8Array[] = [];
  deflate.onData = (piece) => {
    pieces.push(piece);
  };
  deflate.push(bytes, last ? Z_FINISH : Z_FULL_FLUSH);
  if (deflate.err !== 0) throw new Error(`deflate: ${deflate.msg}`);
  return new Uint8Array(Buffer.concat(pieces));
}
