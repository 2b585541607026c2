/**
 * Reads and hashes packages in at most two threads, to leave cores for requests. A thread reads a
 * file by path; other bytes are sent on request. Small packages are read directly, because starting
 * a thread takes longer.
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
import { contentsOf, type PackageRules } from './contents.js';
import type { Job, Told } from './worker.js';

const AT_ONCE = 2;
/** Packed size up to which a package is read without a thread. */
export const SMALL_BYTES = 256 * 1024;
/** Limits of a small package; a thread reads packages beyond them and every rejected one. */
const SMALL = { entries: 500, unpackedBytes: 4 * 1024 * 1024 };

const hashed = (bytes: Uint8Array): { sha256: string; size: number } => ({
  sha256: createHash('sha256').update(bytes).digest('hex'),
  size: bytes.length,
});

type Source = string | AsyncIterable<Uint8Array>;

export class Workshop implements PackageReader {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @throws PackageRejected */
  async inspect(source: Source, rules: PackageRules): Promise<PackageContents> {
    const taken = await takenFrom(source);
    if (!Buffer.isBuffer(taken)) return this.#inspectThere(taken, rules);
    try {
      return await contentsOf(only(taken), rules, SMALL);
    } catch (error) {
      if (!(error instanceof UnsafePackage)) throw error;
      return this.#inspectThere(typeof source === 'string' ? source : only(taken), rules);
    }
  }

  async hash(source: Source): Promise<{ sha256: string; size: number }> {
    const taken = await takenFrom(source);
    if (Buffer.isBuffer(taken)) return hashed(taken);
    const told = (await this.#run({ kind: 'hash', path: pathIn(taken) }, taken, [])) as Told & { hashed: object };
    return told.hashed as { sha256: string; size: number };
  }

  async #inspectThere(source: Source, rules: PackageRules): Promise<PackageContents> {
    const files: PackagedFile[] = [];
    const { read } = (await this.#run({ kind: 'inspect', path: pathIn(source), ...rules }, source, files)) as Told & {
      read: Omit<PackageContents, 'files'>;
    };
    return { files, ...read };
  }

  async #run(job: Job, source: Source, files: PackagedFile[]): Promise<Told> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await ask(job, source, files);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

async function takenFrom(source: Source): Promise<Buffer | Source> {
  if (typeof source === 'string') return (await stat(source)).size <= SMALL_BYTES ? readFile(source) : source;
  const pieces = source[Symbol.asyncIterator]();
  const begun: Uint8Array[] = [];
  for (let held = 0; held <= SMALL_BYTES;) {
    const { done, value } = await pieces.next();
    if (done === true) return Buffer.concat(begun);
    begun.push(value);
    held += value.length;
  }
  return resumed(begun, pieces);
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const pathIn = (source: Source): string | null => (typeof source === 'string' ? source : null);

async function* resumed(begun: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* begun;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/**
 * Runs one job in a separate thread.
 * @param files receives the files of a package
 */
async function ask(job: Job, source: Source, files: PackagedFile[]): Promise<Told> {
  const pieces = typeof source === 'string' ? null : source[Symbol.asyncIterator]();
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: job });
  try {
    return await new Promise((resolve, reject) => {
      worker.on('message', (told: Told) => {
        if ('files' in told) {
          files.push(...told.files);
          worker.postMessage('go on', []);
        } else if ('wants' in told) handOn(worker, pieces).catch(reject);
        else if ('rejected' in told) reject(new PackageRejected(told.rejected.entry, told.rejected.why));
        else if ('failed' in told) reject(Object.assign(new Error(told.failed.message), { code: told.failed.code }));
        else resolve(told);
      });
      worker.on('error', reject);
      worker.on('exit', (code) => reject(new Error(`the thread that reads packages ended with code ${code}`)));
    });
  } finally {
    // Rejected packages are not read completely, and failed sources leave a waiting thread.
    await pieces?.return?.();
    if (pieces !== null) await worker.terminate();
  }
}

async function handOn(worker: Worker, pieces: AsyncIterator<Uint8Array> | null): Promise<void> {
  const next = await pieces?.next();
  if (next === undefined || next.done === true) return worker.postMessage(null, []);
  const copy = new Uint8Array(next.value);
  worker.postMessage(copy, [copy.buffer]);
}
