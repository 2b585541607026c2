/**
 * Worker thread that reads and hashes a package strictly, then ends. It reports files in batches
 * and waits for an acknowledgment of each, because the main thread copies a batch without yielding.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { UnsafePackage } from '../../lib/formats/unsafe-package.js';
import type { PackageContents, PackagedFile } from '../../ports/release-store.js';
import { contentsOf, type PackageRules } from './contents.js';

export type Job = { path: string | null } & ({ kind: 'hash' } | ({ kind: 'inspect' } & PackageRules));

export type Told =
  | { wants: 'a piece' }
  | { files: readonly PackagedFile[] }
  | { read: Omit<PackageContents, 'files'> }
  | { hashed: { sha256: string; size: number } }
  | { rejected: { entry: string; why: string } }
  | { failed: { message: string; code: string } };

const PIECE = 1024 * 1024;
const PORTION = 500;

const port = parentPort;
if (!port) throw new Error('this module is a worker thread');
const tell = (told: Told): void => port.postMessage(told);
const answer = (): Promise<unknown> => new Promise((resolve) => port.once('message', resolve));

async function* handedOn(): AsyncGenerator<Uint8Array> {
  for (;;) {
    tell({ wants: 'a piece' });
    const piece = (await answer()) as Uint8Array | null;
    if (piece === null) return;
    yield piece;
  }
}

const bytesOf = ({ path }: Job): AsyncIterable<Uint8Array> =>
  path === null ? handedOn() : createReadStream(path, { highWaterMark: PIECE });

async function inspect(job: Job & { kind: 'inspect' }): Promise<void> {
  const { files, ...read } = await contentsOf(bytesOf(job), job);
  for (let at = 0; at < files.length; at += PORTION) {
    tell({ files: files.slice(at, at + PORTION) });
    await answer();
  }
  tell({ read });
}

async function hash(job: Job): Promise<void> {
  const sum = createHash('sha256');
  let size = 0;
  for await (const piece of bytesOf(job)) {
    sum.update(piece);
    size += piece.length;
  }
  tell({ hashed: { sha256: sum.digest('hex'), size } });
}

async function work(job: Job): Promise<void> {
  try {
    await (job.kind === 'inspect' ? inspect(job) : hash(job));
  } catch (error) {
    if (error instanceof UnsafePackage) tell({ rejected: { entry: error.entry, why: error.why } });
    else tell({ failed: { message: String(error), code: (error as NodeJS.ErrnoException).code ?? '' } });
  }
  port?.close();
}

void work(workerData as Job);
