/** A worker that does one thing, answers and ends. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ConnectionOptions } from '../connection/connection.js';
import type { Outcome } from './messages.js';

/** @throws what ended the worker before its answer, or the signal's reason */
export async function oneTask(module: URL, connection: ConnectionOptions, signal?: AbortSignal): Promise<Outcome> {
  signal?.throwIfAborted();
  const worker = new Worker(module, { workerData: connection });
  const ended = new AbortController();
  try {
    const stop = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
    const [answer] = (await Promise.race([
      once(worker, 'message', { signal: stop }),
      once(worker, 'exit', { signal: stop }).then(() => [{ error: 'a storage worker ended', name: 'Error' }]),
    ])) as [Outcome];
    return answer;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    ended.abort();
    await worker.terminate();
  }
}
