/**
 * Validates the directory of a new installation: missing, empty, or of the same product; otherwise
 * exit 64 without `--adopt` (contract 90, defaults).
 */
import { mkdir, readdir, readFile, realpath, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { MAX_MANIFEST_BYTES } from '../../../lib/formats/manifest.js';
import { checkAncestors } from '../system/parent-validator.js';
import { getErrorCode, AgentFailure } from '../exit.js';
import { statPath } from '../system/files.js';
import { InstallationLayout, MANIFEST_FILE, OWN_FOLDER } from '../layout.js';

const DIRECTORY_MODE = 0o755;

/**
 * Returns why a directory is rejected. An interrupted installation is recovered before it is
 * checked.
 * @param dir absolute
 */
export async function getDirectoryRejection(dir: string, product: string): Promise<string | null> {
  const stats = await stat(dir).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') return null;
    throw error;
  });
  if (stats === null) return null;
  if (!stats.isDirectory()) return `${dir} is not a directory`;
  if ((await statPath(new InstallationLayout(dir).journal)) !== null) return null;
  const first = (await readdir(dir)).find((name) => name !== OWN_FOLDER);
  if (first === undefined) return null;
  const installed = await readClaimedProduct(join(dir, MANIFEST_FILE));
  if (installed === product) return null;
  return installed === null ? `${dir} is not empty: it contains ${first}` : `${installed} is installed in ${dir}`;
}

async function readClaimedProduct(path: string): Promise<string | null> {
  const stats = await statPath(path);
  if (stats === null || !stats.isFile() || stats.size > MAX_MANIFEST_BYTES) return null;
  try {
    const { product } = JSON.parse(await readFile(path, 'utf8')) as { product?: unknown };
    return typeof product === 'string' ? product : null;
  } catch {
    return null;
  }
}

export async function checkDirectory(dir: string, product: string, adopt: boolean): Promise<void> {
  const why = await getDirectoryRejection(dir, product);
  if (why !== null && (!adopt || why.endsWith('is not a directory')))
    throw new AgentFailure('usage', `${why}; choose another --dir${adopt ? '' : ', or --adopt it'}`);
}

/** @returns the created directories, the deepest first */
export async function createDirectories(dir: string): Promise<string[]> {
  const missing: string[] = [];
  let at = dir;
  for (; (await stat(at).catch(() => null)) === null && at !== dirname(at); at = dirname(at)) missing.push(at);
  if (missing.length === 0) return [];
  await checkAncestors(join(await realpath(at), 'x'));
  for (const path of missing.toReversed()) await mkdir(path, { mode: DIRECTORY_MODE });
  return missing;
}

export async function removeEmptyDirectories(made: readonly string[]): Promise<void> {
  for (const path of made) {
    const gone = await rmdir(path).then(
      () => true,
      () => false,
    );
    if (!gone) return;
  }
}

/** A subdirectory if the current one is not empty. */
export async function suggestDirectory(dir: string, product: string): Promise<string> {
  if (basename(dir) === product || (await getDirectoryRejection(dir, product)) === null) return dir;
  return resolve(dir, product);
}
