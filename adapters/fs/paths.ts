/**
 * Paths of the store. Every segment is a plain name, so no path leads out of the store; links are
 * never followed.
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReleasePlace } from '../../ports/release-store.js';

export const PACKAGE = 'package.tar.gz';
export const SIGNATURE = 'manifest.sig';
export const MANIFEST = 'manifest.json';
export const LATEST = 'latest.json';
export const INCOMING = '.incoming';

/**
 * Starts with a letter or digit, which excludes `.`, `..`, `.htaccess` and `.incoming`; limited to
 * the 255 bytes of file systems.
 */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/;
/** Windows device names, with any extension, and trailing dots, which Windows drops. */
const WINDOWS = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|\.$/i;

export const isName = (name: string): boolean =>
  NAME.test(name) && !(process.platform === 'win32' && WINDOWS.test(name));

/** @throws TypeError for an invalid name, which the caller must have rejected */
export function nameOf(name: string): string {
  if (!isName(name)) throw new TypeError('a name of the release store has letters, digits, `.`, `_` and `-` alone');
  return name;
}

export const folderOf = (root: string, { product, channel, version, platform }: ReleasePlace): string =>
  join(root, nameOf(product), nameOf(channel), nameOf(version), nameOf(platform));

export async function throughFolders(root: string, segments: readonly string[]): Promise<boolean> {
  let folder = root;
  for (const segment of segments.slice(0, -1)) {
    folder = join(folder, segment);
    if (!(await lstat(folder)).isDirectory()) return false;
  }
  return true;
}
