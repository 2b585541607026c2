/** Paths of the store. Every segment is a plain name, so that nothing leads out of it; links are never followed. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReleasePlace } from '../../ports/release-store.js';

export const PACKAGE = 'package.tar.gz';
export const SIGNATURE = 'manifest.sig';
export const MANIFEST = 'manifest.json';
export const LATEST = 'latest.json';
export const INCOMING = '.incoming';

/** Begins with a letter or digit: no `.`, `..`, `.htaccess`, `.incoming`. 255 bytes are what file systems take. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/;
/** Names that Windows gives to devices, whatever follows the first dot, and endings that it drops. */
const WINDOWS = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|\.$/i;

export const isName = (name: string): boolean =>
  NAME.test(name) && !(process.platform === 'win32' && WINDOWS.test(name));

/** @throws TypeError for what is no name: the caller has checked it before */
export function nameOf(name: string): string {
  if (!isName(name)) throw new TypeError('a name of the release store has letters, digits, `.`, `_` and `-` alone');
  return name;
}

export const folderOf = (root: string, { product, channel, version, platform }: ReleasePlace): string =>
  join(root, nameOf(product), nameOf(channel), nameOf(version), nameOf(platform));

/** Whether every folder on the way to `segments` is one, and no link. */
export async function throughFolders(root: string, segments: readonly string[]): Promise<boolean> {
  let folder = root;
  for (const segment of segments.slice(0, -1)) {
    folder = join(folder, segment);
    if (!(await lstat(folder)).isDirectory()) return false;
  }
  return true;
}
