/** Compresses pieces in a thread of its own. */
import { parentPort } from 'node:worker_threads';
import { deflated } from './deflate.js';

export interface DeflateJob {
  id: number;
  bytes: Uint8Array<ArrayBuffer>;
  last: boolean;
}

export interface DeflatedPiece {
  id: number;
  bytes: Uint8Array<ArrayBuffer>;
}

parentPort?.on('message', ({ id, bytes, last }: DeflateJob) => {
  const answer: DeflatedPiece = { id, bytes: deflated(bytes, last) };
  parentPort?.postMessage(answer, [answer.bytes.buffer]);
});
