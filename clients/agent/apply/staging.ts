/**
 * Durable when it returns, so only renames remain (contract 90, update: extract into staging with
 * strict rules, verify every file).
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UnsafePackage, readPackage, type FileEntry } from '../../../lib/formats/archive.js';
import type { ReleaseManifest } from '../../../lib/formats/manifest.js';
import { AgentFailure } from '../exit.js';
import { forEachConcurrently, syncDirectory, syncFile } from '../system/files.js';
import type { InstallationLayout } from '../layout.js';
import type { VerifiedRelease } from '../trust/release-verification.js';
import { setMode } from './apply.js';

const SYNC_CONCURRENCY = 16;
const PRIVATE_MODE = 0o700;

/** A local file with the bytes of a packaged one. */
export interface FileCopy {
  from: string;
  size: number;
  mode: string;
  sha256: string;
}

/** Where the files of a release come from: its package, or local files by path. */
export type ReleaseFiles = { archive: string } | { copies: ReadonlyMap<string, FileCopy> };

export const countBytes = (files: ReleaseFiles, { files: listed }: ReleaseManifest): number =>
  ('copies' in files ? [...files.copies.values()] : listed).reduce((sum, { size }) => sum + size, 0);

export interface StageInput {
  layout: InstallationLayout;
  tx: string;
  files: ReleaseFiles;
  release: VerifiedRelease;
  signal: AbortSignal;
  onProgress: (done: number, before: number) => void;
}

export async function stageRelease(input: StageInput): Promise<void> {
  const { layout, tx, release, files } = input;
  await mkdir(layout.getStagedFilesFolder(tx), { recursive: true, mode: PRIVATE_MODE });
  const folders =
    'archive' in files ? await extractArchive(input, files.archive) : await copyFiles(input, files.copies);
  const paths = 'archive' in files ? release.manifest.files.map(({ path }) => path) : files.copies.keys();
  await forEachConcurrently(paths, SYNC_CONCURRENCY, (path) => syncFile(layout.getStagedFile(tx, path)));
  await writeFile(layout.getStagedManifest(tx), release.bytes, { flag: 'wx', mode: 0o644 });
  await setMode(layout.getStagedManifest(tx), 0o644);
  await syncFile(layout.getStagedManifest(tx));
  for (const folder of [...folders, layout.getStagedFilesFolder(tx), layout.getStagingFolder(tx), layout.stagings])
    await syncDirectory(folder);
}

async function copyFiles(
  { layout, tx, signal, onProgress }: StageInput,
  copies: ReadonlyMap<string, FileCopy>,
): Promise<Set<string>> {
  const folders = new Set<string>();
  let done = 0;
  for (const [path, { from, mode, sha256 }] of copies) {
    const to = layout.getStagedFile(tx, path);
    await makeFolders(layout.getStagedFilesFolder(tx), dirname(to), folders);
    const hash = createHash('sha256');
    const file = await open(to, 'wx', PRIVATE_MODE);
    try {
      for await (const piece of createReadStream(from, { highWaterMark: 256 * 1024, signal })) {
        hash.update(piece as Buffer);
        await file.writeFile(piece as Buffer);
        onProgress((done += (piece as Buffer).length), done - (piece as Buffer).length);
      }
    } finally {
      await file.close();
    }
    if (hash.digest('hex') !== sha256) throw new AgentFailure('unverified', `${from} changed while it was being read`);
    await setMode(to, Number.parseInt(mode, 8));
  }
  return folders;
}

async function extractArchive(
  { layout, tx, release, signal, onProgress }: StageInput,
  archive: string,
): Promise<Set<string>> {
  const { manifest } = release;
  const listed = new Map(manifest.files.map((file) => [file.path, file]));
  const folders = new Set<string>();
  let done = 0;
  const onFile = async (entry: FileEntry, content: AsyncIterable<Uint8Array>): Promise<void> => {
    const wanted = listed.get(entry.path);
    if (wanted === undefined || wanted.size !== entry.size) throw createMismatchFailure(entry.path);
    const path = layout.getStagedFile(tx, entry.path);
    await makeFolders(layout.getStagedFilesFolder(tx), dirname(path), folders);
    const file = await open(path, 'wx', PRIVATE_MODE);
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
  verifyFiles(await readEntries(createReadStream(archive, { highWaterMark: 256 * 1024 }), manifest, onFile), manifest);
  return folders;
}

async function readEntries(
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

function verifyFiles(unpacked: ReadonlyMap<string, string>, { files }: ReleaseManifest): void {
  for (const { path, sha256 } of files) if (unpacked.get(path) !== sha256) throw createMismatchFailure(path);
}

const createMismatchFailure = (path: string): AgentFailure =>
  new AgentFailure('unverified', `${path} in the package does not match the manifest`);

async function makeFolders(root: string, folder: string, made: Set<string>): Promise<void> {
  if (made.has(folder) || folder === root) return;
  await makeFolders(root, dirname(folder), made);
  await mkdir(folder, { mode: PRIVATE_MODE });
  made.add(folder);
}
