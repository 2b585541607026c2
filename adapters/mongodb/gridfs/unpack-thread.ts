import { Worker } from 'node:worker_threads';
import { DiskFull } from '../../../ports/release-store.js';
import type { UnpackFailure, ReleaseUnpackJob } from './unpack-worker.js';

/**
 * Unpacks a release off the event loop.
 * @throws DiskFull, errors of the package and of MongoDB, and the signal's reason
 */
export async function unpackInThread(job: ReleaseUnpackJob, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const worker = new Worker(new URL('./unpack-worker.js', import.meta.url), { workerData: job });
  const stop = (): void => void worker.terminate();
  signal?.addEventListener('abort', stop);
  try {
    const failure = await new Promise<UnpackFailure>((resolve, reject) => {
      worker.on('message', resolve);
      worker.on('error', reject);
      worker.on('exit', (code) =>
        reject(signal?.aborted === true ? signal.reason : new Error(`the unpacking thread exited with code ${code}`)),
      );
    });
    if (failure === null) return;
    const { message, isFull } = failure;
    throw isFull ? new DiskFull(`MongoDB: ${message}`) : new Error(message);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
