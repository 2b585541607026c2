/**
 * Reads and hashes packages in at most two threads, to leave cores for requests. A thread reads a
 * file by path; other bytes are sent on request.
 */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import {
  PackageRejected,
  type PackageContents,
  type PackagedFile,
  type PackageReader,
} from '../../ports/release-store.js';
import { UnsafePackage } from '../../lib/formats/unsafe-package.js';
import { readPackageContents, type PackageRules } from './package-contents.js';
import type { UnpackJob } from './unpack-files.js';
import type { PackageJob, PackageJobMessage } from './worker.js';

const MAX_CONCURRENT_THREADS = 2;
/** Up to this size without a thread. */
export const MAX_SMALL_PACKAGE_BYTES = 256 * 1024;
/** A thread reads packages beyond them and every rejected one. */
const SMALL_PACKAGE_LIMITS = { entries: 500, unpackedBytes: 4 * 1024 * 1024 };

const hashBytes = (bytes: Uint8Array): { sha256: string; size: number } => ({
  sha256: createHash('sha256').update(bytes).digest('hex'),
  size: bytes.length,
});

type PackageSource = string | AsyncIterable<Uint8Array>;

export class ThreadPackageReader implements PackageReader {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @throws PackageRejected */
  async inspect(source: PackageSource, rules: PackageRules): Promise<PackageContents> {
    const content = await readIfSmall(source);
    if (!Buffer.isBuffer(content)) return this.#inspectInThread(content, rules);
    try {
      return await readPackageContents(yieldOnce(content), rules, SMALL_PACKAGE_LIMITS);
    } catch (error) {
      if (!(error instanceof UnsafePackage)) throw error;
      return this.#inspectInThread(typeof source === 'string' ? source : yieldOnce(content), rules);
    }
  }

  async hash(source: PackageSource): Promise<{ sha256: string; size: number }> {
    const content = await readIfSmall(source);
    if (Buffer.isBuffer(content)) return hashBytes(content);
    const jobMessage = (await this.#runWhenFree(
      { kind: 'hash', path: getPath(content) },
      content,
      [],
    )) as PackageJobMessage & {
      hashed: object;
    };
    return jobMessage.hashed as { sha256: string; size: number };
  }

  /**
   * Unpacks a stored package into files by hash.
   * @throws the signal's reason when it aborts
   */
  async unpack(job: UnpackJob, signal?: AbortSignal): Promise<void> {
    await this.#runWhenFree(job, job.release, [], signal);
  }

  async #inspectInThread(source: PackageSource, rules: PackageRules): Promise<PackageContents> {
    const files: PackagedFile[] = [];
    const { read } = (await this.#runWhenFree(
      { kind: 'inspect', path: getPath(source), ...rules },
      source,
      files,
    )) as PackageJobMessage & {
      read: Omit<PackageContents, 'files'>;
    };
    return { files, ...read };
  }

  async #runWhenFree(
    job: PackageJob,
    source: PackageSource,
    files: PackagedFile[],
    signal?: AbortSignal,
  ): Promise<PackageJobMessage> {
    if (this.#running >= MAX_CONCURRENT_THREADS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await runInThread(job, source, files, signal);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

async function readIfSmall(source: PackageSource): Promise<Buffer | PackageSource> {
  if (typeof source === 'string')
    return (await stat(source)).size <= MAX_SMALL_PACKAGE_BYTES ? readFile(source) : source;
  const pieces = source[Symbol.asyncIterator]();
  const begun: Uint8Array[] = [];
  for (let held = 0; held <= MAX_SMALL_PACKAGE_BYTES;) {
    const { done, value } = await pieces.next();
    if (done === true) return Buffer.concat(begun);
    begun.push(value);
    held += value.length;
  }
  return resumeIteration(begun, pieces);
}

async function* yieldOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const getPath = (source: PackageSource): string | null => (typeof source === 'string' ? source : null);

async function* resumeIteration(
  begun: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* begun;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** Runs one job in a separate thread. */
async function runInThread(
  job: PackageJob,
  source: PackageSource,
  files: PackagedFile[],
  signal?: AbortSignal,
): Promise<PackageJobMessage> {
  signal?.throwIfAborted();
  const pieces = typeof source === 'string' ? null : source[Symbol.asyncIterator]();
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: job });
  const stop = (): void => void worker.terminate();
  signal?.addEventListener('abort', stop);
  try {
    return await new Promise((resolve, reject) => {
      worker.on('message', (jobMessage: PackageJobMessage) => {
        if ('files' in jobMessage) {
          files.push(...jobMessage.files);
          worker.postMessage('go on', []);
        } else if ('wants' in jobMessage) sendNextPiece(worker, pieces).catch(reject);
        else if ('rejected' in jobMessage)
          reject(new PackageRejected(jobMessage.rejected.entry, jobMessage.rejected.why));
        else if ('failed' in jobMessage)
          reject(Object.assign(new Error(jobMessage.failed.message), { code: jobMessage.failed.code }));
        else resolve(jobMessage);
      });
      worker.on('error', reject);
      worker.on('exit', (code) =>
        reject(
          signal?.aborted === true ? signal.reason : new Error(`the package reader thread exited with code ${code}`),
        ),
      );
    });
  } finally {
    signal?.removeEventListener('abort', stop);
    // Rejected packages are not read completely, and failed sources leave a waiting thread.
    await pieces?.return?.();
    if (pieces !== null) await worker.terminate();
  }
}

async function sendNextPiece(worker: Worker, pieces: AsyncIterator<Uint8Array> | null): Promise<void> {
  const next = await pieces?.next();
  if (next === undefined || next.done === true) return worker.postMessage(null, []);
  const copy = new Uint8Array(next.value);
  worker.postMessage(copy, [copy.buffer]);
}
