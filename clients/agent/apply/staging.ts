/**
 * Extracts and verifies the new version on the installation's file system (contract 90, update:
 * extract into staging with strict rules, verify every file). Durable when it returns, so only
 * renames remain.
 */
import { createReadStream } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UnsafePackage, readPackage, type FileEntry } from '../../../lib/formats/archive.js';
import type { ReleaseManifest } from '../../../lib/formats/manifest.js';
import { AgentFailure } from '../exit.js';
import { eachOf, syncDirectory, syncFile } from '../system/files.js';
import type { Layout } from '../layout.js';
import type { VerifiedRelease } from '../trust/verified.js';
import { setMode } from './apply.js';

const LANES = 16;
const OWN_MODE = 0o700;

export interface StageInput {
  layout: Layout;
  tx: string;
  archive: string;
  release: VerifiedRelease;
  signal: AbortSignal;
  onProgress: (done: number, before: number) => void;
}

export async function stage(input: StageInput): Promise<void> {
  const { layout, tx, release } = input;
  await mkdir(layout.stagedFiles(tx), { recursive: true, mode: OWN_MODE });
  const folders = await unpack(input);
  await eachOf(release.manifest.files, LANES, ({ path }) => syncFile(layout.staged(tx, path)));
  await writeFile(layout.stagedManifest(tx), release.bytes, { flag: 'wx', mode: 0o644 });
  await setMode(layout.stagedManifest(tx), 0o644);
  await syncFile(layout.stagedManifest(tx));
  for (const folder of [...folders, layout.stagedFiles(tx), layout.staging(tx), layout.stagings])
    await syncDirectory(folder);
}

async function unpack({ layout, tx, archive, release, signal, onProgress }: StageInput): Promise<Set<string>> {
  const { manifest } = release;
  const listed = new Map(manifest.files.map((file) => [file.path, file]));
  const folders = new Set<string>();
  let done = 0;
  const onFile = async (entry: FileEntry, content: AsyncIterable<Uint8Array>): Promise<void> => {
    const wanted = listed.get(entry.path);
    if (wanted === undefined || wanted.size !== entry.size) throw mismatch(entry.path);
    const path = layout.staged(tx, entry.path);
    await makeFolders(layout.stagedFiles(tx), dirname(path), folders);
    const file = await open(path, 'wx', OWN_MODE);
    try {
      for await (const piece of content) {
        signal.throwIfAborted();
        await file.writeFile(piece);
        onProgress((done += piece.length), done - piece.length);
      }
    } finally {
      await file.close();
    }
    await setMode(path, Number.parseInt(wanted.mode, 8));
  };
  compare(await read(createReadStream(archive, { highWaterMark: 256 * 1024 }), manifest, onFile), manifest);
  return folders;
}

async function read(
  source: AsyncIterable<Uint8Array>,
  { platform, entry }: ReleaseManifest,
  onFile: (entry: FileEntry, content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<ReadonlyMap<string, string>> {
  try {
    const { files } = await readPackage(source, { platform, entry, onFile });
    return new Map(files.map(({ path, sha256 }) => [path, sha256]));
  } catch (error) {
    if (error instanceof UnsafePackage)
      throw new AgentFailure('unverified', `the package: ${error.message}`, { cause: error });
    throw error;
  }
}

function compare(unpacked: ReadonlyMap<string, string>, { files }: ReleaseManifest): void {
  for (const { path, sha256 } of files) if (unpacked.get(path) !== sha256) throw mismatch(path);
}

const mismatch = (path: string): AgentFailure =>
  new AgentFailure('unverified', `the package’s ${path} is not the file that the manifest lists`);

async function makeFolders(root: string, folder: string, made: Set<string>): Promise<void> {
  if (made.has(folder) || folder === root) return;
  await makeFolders(root, dirname(folder), made);
  await mkdir(folder, { mode: OWN_MODE });
  made.add(folder);
}
