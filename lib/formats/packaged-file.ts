/** Reads single files of a stored package (contract 97, files of a release). */
import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { readPackage } from './archive.js';
import type { ManifestFile } from './manifest.js';

/** Ends the reading of the archive once the needed bytes are read. */
class FileFound extends Error {}

/** A content that the manifest of a release lists. */
export type ListedFile = Pick<ManifestFile, 'sha256' | 'size'>;

/** Stores each content once, named by its SHA-256 and shared by the releases that list it. */
export interface FilePool {
  /**
   * Adds the stored ones to the release.
   * @returns those that are not stored
   */
  filterMissing(files: readonly ListedFile[]): Promise<readonly ListedFile[]>;
  /** @throws with code ENOSPC when this many bytes do not fit */
  requireSpace(bytes: number): Promise<void>;
  /** Stores a content and adds it to the release; nothing remains when `content` throws. */
  write(file: ListedFile, content: AsyncIterable<Uint8Array>): Promise<void>;
}

/**
 * Stores the files of a release that the pool lacks; does not read the package when it lacks none.
 * @param manifest text of the release's manifest
 * @throws UnsafePackage, errors of the pool and the package, and Error when package and manifest
 *   differ
 */
export async function unpackMissingFiles(
  manifest: string,
  { platform, open }: { platform: string; open: () => AsyncIterable<Uint8Array> },
  pool: FilePool,
): Promise<void> {
  const { files } = JSON.parse(manifest) as { files: readonly ManifestFile[] };
  const listed = new Map(files.map(({ sha256, size }) => [sha256, { sha256, size }]));
  const missing = new Map((await pool.filterMissing([...listed.values()])).map((file) => [file.sha256, file]));
  if (missing.size === 0) return;
  await pool.requireSpace([...missing.values()].reduce((sum, { size }) => sum + size, 0));
  const hashes = new Map(files.map(({ path, sha256 }) => [path, sha256]));
  const onFile = async ({ path }: { path: string }, content: AsyncIterable<Uint8Array>): Promise<void> => {
    const sha256 = hashes.get(path);
    if (sha256 === undefined) throw new Error(`the manifest does not list ${path}`);
    const file = missing.get(sha256);
    if (file === undefined) return;
    await pool.write(file, verifyContent(content, file, path));
    missing.delete(sha256);
    if (missing.size === 0) throw new FileFound();
  };
  await readPackage(open(), { platform, onFile }).catch((error: unknown) => {
    if (!(error instanceof FileFound)) throw error;
  });
  if (missing.size > 0) throw new Error(`the package lacks ${missing.size} files of the manifest`);
}

/** The manifest of a publish that was interrupted may be that of the package before. */
async function* verifyContent(
  content: AsyncIterable<Uint8Array>,
  { sha256 }: ListedFile,
  path: string,
): AsyncGenerator<Uint8Array> {
  const sum = createHash('sha256');
  for await (const piece of content) {
    sum.update(piece);
    yield piece;
  }
  if (sum.digest('hex') !== sha256) throw new Error(`the manifest has another hash of ${path}`);
}

/**
 * Reads the bytes of one file from `start` to `end` (exclusive), unpacking the package up to there.
 * @param source bytes of the package
 * @throws UnsafePackage, errors of `source`, and Error when the package lacks the file
 */
export async function* readPackagedFile(
  source: AsyncIterable<Uint8Array>,
  { platform, path, start, end }: { platform: string; path: string; start: number; end: number },
): AsyncGenerator<Uint8Array> {
  const out = new PassThrough();
  const onFile = async (entry: { path: string }, content: AsyncIterable<Uint8Array>): Promise<void> => {
    if (out.destroyed) throw new FileFound();
    if (entry.path !== path) return;
    let at = 0;
    for await (const piece of content) {
      const part = piece.subarray(Math.max(0, start - at), Math.max(0, end - at));
      at += piece.length;
      if (part.length > 0 && !out.write(Buffer.from(part))) await waitForDrain(out);
      if (at >= end || out.destroyed) break;
    }
    throw new FileFound();
  };
  const reading = readPackage(source, { platform, onFile }).then(
    () => out.destroy(new Error(`the package has no file ${path}`)),
    (error: unknown) => (error instanceof FileFound ? out.end() : out.destroy(error as Error)),
  );
  try {
    for await (const piece of out) yield piece as Buffer;
  } finally {
    out.destroy();
    await reading;
  }
}

/** Resolves when more can be written, or nothing any more. */
const waitForDrain = (out: PassThrough): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      out.off('drain', done).off('close', done);
      resolve();
    };
    if (out.destroyed) resolve();
    else out.on('drain', done).on('close', done);
  });
