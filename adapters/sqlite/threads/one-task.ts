/** A worker that does one thing, answers and ends. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { keepLive } from '../../../lib/process/live-threads.js';
import type { ConnectionOptions } from '../connection/connection.js';
import type { Outcome } from './messages.js';
import { CLOSE } from './serve.js';

/**
 * The worker ends by itself, also when it is asked to: one that is taken away in the middle of a read aborts the
 * process.
 * @throws what ended the worker before its answer, or the signal's reason
 */
export async function oneTask(module: URL, connection: ConnectionOptions, signal?: AbortSignal): Promise<Outcome> {
  signal?.throwIfAborted();
  const worker = new Worker(module, { workerData: connection });
  const leave = (): void => worker.postMessage(CLOSE, []);
  keepLive(worker, leave);
  signal?.addEventListener('abort', leave, { once: true });
  let answer: Outcome = { error: 'a storage worker ended', name: 'Error' };
  worker.on('message', (outcome: Outcome) => (answer = outcome));
  try {
    await once(worker, 'exit');
  } finally {
    signal?.removeEventListener('abort', leave);
    signal?.throwIfAborted();
  }
  return answer;
}
