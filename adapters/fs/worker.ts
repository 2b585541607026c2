/**
 * The thread in which packages are read strictly and hashed: work of minutes for the largest. One job, then it ends.
 * Files are told in portions, each when the one before was taken, since the main thread copies what it is told at a
 * stretch.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { UnsafePackage, readPackage } from '../../formats/archive.js';
import { KeptText } from '../../formats/kept-text.js';
import { MAX_SETUP_BYTES, type PackagedFile } from '../../ports/release-store.js';

export type Job = { path: string } & ({ kind: 'hash' } | { kind: 'inspect'; platform: string; entry: string | null });

export type Told =
  | { files: PackagedFile[] }
  | { read: { unpacked: number; setup: string | null } }
  | { hashed: { sha256: string; size: number } }
  | { rejected: { entry: string; why: string } }
  | { failed: { message: string; code: string } };

const PIECE = 1024 * 1024;
const PORTION = 500;

const port = parentPort;
if (!port) throw new Error('this module is a worker thread');
const tell = (told: Told): void => port.postMessage(told);
/** The main thread answers each portion. */
const taken = (): Promise<void> => new Promise((resolve) => port.once('message', () => resolve()));

async function inspect({ path, platform, entry }: Job & { kind: 'inspect' }): Promise<void> {
  const setup = new KeptText('setup.json', MAX_SETUP_BYTES);
  const source = createReadStream(path, { highWaterMark: PIECE });
  const { files, unpackedBytes } = await readPackage(source, { platform, entry, onFile: setup.onFile });
  for (let at = 0; at < files.length; at += PORTION) {
    tell({ files: files.slice(at, at + PORTION) });
    await taken();
  }
  tell({ read: { unpacked: unpackedBytes, setup: setup.text } });
}

async function hash({ path }: Job): Promise<void> {
  const sum = createHash('sha256');
  let size = 0;
  for await (const piece of createReadStream(path, { highWaterMark: PIECE }) as AsyncIterable<Buffer>) {
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
