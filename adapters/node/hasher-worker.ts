/** Synchronous bcryptjs calls are correct here, because the thread has no other work. */
import { parentPort, threadId } from 'node:worker_threads';
import bcrypt from 'bcryptjs';

export type HashJob =
  | { id: number; kind: 'hash'; password: string; cost: number }
  | { id: number; kind: 'bcrypt' | 'argon2'; password: string; hash: string };

export type HashAnswer = { id: number; thread: number } & ({ value: string | boolean } | { error: string });

async function runHashJob(job: HashJob): Promise<string | boolean> {
  if (job.kind === 'hash') return bcrypt.hashSync(job.password, job.cost).replace(/^\$2[ab]\$/, '$2y$');
  if (job.kind === 'argon2') {
    // Only imported accounts have Argon2 hashes.
    const { argon2Verify } = await import('hash-wasm');
    return argon2Verify({ password: job.password, hash: job.hash });
  }
  return bcrypt.compareSync(job.password, job.hash);
}

const port = parentPort;
if (!port) throw new Error('this module is a worker thread');
port.on('message', (job: HashJob) => {
  runHashJob(job).then(
    (value) => port.postMessage({ id: job.id, thread: threadId, value } satisfies HashAnswer),
    (error: unknown) => port.postMessage({ id: job.id, thread: threadId, error: String(error) } satisfies HashAnswer),
  );
});
