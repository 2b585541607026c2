/** Threads that compress: pieces go to whoever is free, and come back to whoever asked. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { DeflatedPiece, DeflateJob } from './deflate-worker.js';

interface Waiting {
  resolve: (bytes: Uint8Array) => void;
  reject: (error: Error) => void;
}

const MOST_THREADS = 8;

export class DeflatePool {
  readonly threads: number;
  readonly #workers: Worker[];
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;

  constructor(pieces: number) {
    this.threads = Math.max(1, Math.min(MOST_THREADS, availableParallelism(), pieces));
    this.#workers = Array.from({ length: this.threads }, () => this.#start());
  }

  /** A piece of a raw deflate stream, which may follow any other. `bytes` must not be used afterwards. */
  deflate(bytes: Uint8Array<ArrayBuffer>, last: boolean): Promise<Uint8Array> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      const job: DeflateJob = { id, bytes, last };
      this.#workers[id % this.threads]?.postMessage(job, [bytes.buffer]);
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #start(): Worker {
    const worker = new Worker(new URL('./deflate-worker.js', import.meta.url));
    worker.on('message', ({ id, bytes }: DeflatedPiece) => {
      this.#waiting.get(id)?.resolve(bytes);
      this.#waiting.delete(id);
    });
    worker.on('error', (error) => {
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
    return worker;
  }
}
