/**
 * Worker thread that reads and hashes a package strictly, then ends. It reports files in batches
 * and waits for an acknowledgment of each, because the main thread copies a batch without yielding.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { UnsafePackage } from '../../lib/formats/unsafe-package.js';
import type { PackageContents, PackagedFile } from '../../ports/release-store.js';
import { readPackageContents, type PackageRules } from './package-contents.js';
import { unpackFiles, type UnpackJob } from './unpack-files.js';

export type PackageJob = UnpackJob | ReadJob;

type ReadJob = { path: string | null } & ({ kind: 'hash' } | ({ kind: 'inspect' } & PackageRules));

export type PackageJobMessage =
  | { wants: 'a piece' }
  | { files: readonly PackagedFile[] }
  | { read: Omit<PackageContents, 'files'> }
  | { hashed: { sha256: string; size: number } }
  | { unpacked: true }
  | { rejected: { entry: string; why: string } }
  | { failed: { message: string; code: string } };

const READ_CHUNK_BYTES = 1024 * 1024;
const BATCH_FILES = 500;

const port = parentPort;
if (!port) throw new Error('this module must run in a worker thread');
const postToParent = (jobMessage: PackageJobMessage): void => port.postMessage(jobMessage);
const waitForAnswer = (): Promise<unknown> => new Promise((resolve) => port.once('message', resolve));

async function* receiveBytes(): AsyncGenerator<Uint8Array> {
  for (;;) {
    postToParent({ wants: 'a piece' });
    const piece = (await waitForAnswer()) as Uint8Array | null;
    if (piece === null) return;
    yield piece;
  }
}

const openBytes = ({ path }: ReadJob): AsyncIterable<Uint8Array> =>
  path === null ? receiveBytes() : createReadStream(path, { highWaterMark: READ_CHUNK_BYTES });

async function inspectPackage(job: ReadJob & { kind: 'inspect' }): Promise<void> {
  const { files, ...read } = await readPackageContents(openBytes(job), job);
  for (let at = 0; at < files.length; at += BATCH_FILES) {
    postToParent({ files: files.slice(at, at + BATCH_FILES) });
    await waitForAnswer();
  }
  postToParent({ read });
}

async function hashPackage(job: ReadJob): Promise<void> {
  const sum = createHash('sha256');
  let size = 0;
  for await (const piece of openBytes(job)) {
    sum.update(piece);
    size += piece.length;
  }
  postToParent({ hashed: { sha256: sum.digest('hex'), size } });
}

async function runJob(job: PackageJob): Promise<void> {
  try {
    if (job.kind === 'unpack') {
      await unpackFiles(job);
      postToParent({ unpacked: true });
    } else await (job.kind === 'inspect' ? inspectPackage(job) : hashPackage(job));
  } catch (error) {
    if (error instanceof UnsafePackage) postToParent({ rejected: { entry: error.entry, why: error.why } });
    else postToParent({ failed: { message: String(error), code: (error as NodeJS.ErrnoException).code ?? '' } });
  }
  port?.close();
}

void runJob(workerData as PackageJob);
