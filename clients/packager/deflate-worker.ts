/**
 * Compresses pieces in a thread of its own. By a compressor in JavaScript, since node's own gives other bytes with
 * other versions of node and on other processors, and a package has to be the same wherever it is built.
 */
import { Deflate } from 'pako';
import { parentPort } from 'node:worker_threads';

export interface DeflateJob {
  id: number;
  bytes: Uint8Array<ArrayBuffer>;
  last: boolean;
}

export interface DeflatedPiece {
  id: number;
  bytes: Uint8Array<ArrayBuffer>;
}

const LEVEL = 6;
const Z_FULL_FLUSH = 3;
const Z_FINISH = 4;

parentPort?.on('message', ({ id, bytes, last }: DeflateJob) => {
  const deflate = new Deflate({ raw: true, level: LEVEL, chunkSize: bytes.length + 1_024 });
  const pieces: Uint8Array[] = [];
  deflate.onData = (piece) => {
    pieces.push(piece);
  };
  deflate.push(bytes, last ? Z_FINISH : Z_FULL_FLUSH);
  if (deflate.err !== 0) throw new Error(`deflate: ${deflate.msg}`);
  const answer: DeflatedPiece = { id, bytes: new Uint8Array(Buffer.concat(pieces)) };
  parentPort?.postMessage(answer, [answer.bytes.buffer]);
});
