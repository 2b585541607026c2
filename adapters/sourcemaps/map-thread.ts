/**
 * One thread with a bounded heap, started when there is work, ended when there is none for a while, and ended at once
 * by a job that takes too long. A child process would bear even a heap that V8 cannot grow in time; it costs 40 MB and
 * 60 ms more, and what a job may read is bounded before it starts.
 */
import { Worker } from 'node:worker_threads';
import { MapRefused } from '../../ports/source-maps/reader.js';
import { LIMITS } from './limits.js';
import type { MapAnswer, MapJob } from './worker.js';

export interface ThreadBounds {
  runMs: number;
  idleMs: number;
  heapMb: number;
}

export class MapThread {
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(private readonly bounds: ThreadBounds = LIMITS) {}

  /** One job; the caller waits for it before it gives the next. @throws MapRefused */
  run(job: MapJob): Promise<MapAnswer> {
    if (this.#closed) return Promise.reject(new MapRefused('is not read while the service stops', false));
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    return new Promise<MapAnswer>((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(limit);
        worker.off('message', told).off('error', failed).off('exit', ended);
      };
      const give = (why: string): void => {
        settle();
        this.#drop(worker);
        reject(new MapRefused(why, !this.#closed));
      };
      const told = (answer: MapAnswer): void => {
        settle();
        this.#rest(worker);
        if ('refused' in answer) reject(new MapRefused(answer.refused));
        else resolve(answer);
      };
      const failed = (): void => give('takes more memory than a map may');
      const ended = (): void => give('ended the thread that read it');
      const limit = setTimeout(() => give('takes longer than a map may'), this.bounds.runMs);
      worker.on('message', told).on('error', failed).on('exit', ended);
      worker.postMessage(job, []);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await this.#worker?.terminate();
    this.#worker = null;
  }

  #start(): Worker {
    const { heapMb } = this.bounds;
    const worker = new Worker(new URL('./worker.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 32, stackSizeMb: 2 },
    });
    // Between two jobs nobody else listens, and an error without a listener would end the process.
    worker.on('error', () => this.#drop(worker));
    return worker;
  }

  #rest(worker: Worker): void {
    worker.unref();
    this.#idle = setTimeout(() => this.#drop(worker), this.bounds.idleMs).unref();
  }

  #drop(worker: Worker): void {
    if (this.#worker === worker) this.#worker = null;
    worker.unref();
    void worker.terminate();
  }
}
