/** Paths of the store. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReleaseLocation } from '../../ports/release-store.js';

export const PACKAGE_FILE = 'package.tar.gz';
export const SIGNATURE_FILE = 'manifest.sig';
export const MANIFEST_FILE = 'manifest.json';
export const LATEST_FILE = 'latest.json';
export const INCOMING_FOLDER = '.incoming';
/** Contents of all releases, and the folder of links in each one. */
export const POOL_FOLDER = '.files';
export const FILES_FOLDER = 'files';
/** Names the package and manifest whose files `files/` has. */
export const UNPACKED_FILE = '.unpacked';
export const UNFINISHED_FILES_PREFIX = '.files-';
export const UNFINISHED_POOL_PREFIX = 'new-';
/** Folders of links of replaced and withdrawn releases, and contents without a release. */
export const RETIRED_POOL_PREFIX = 'old-';

export const getPoolPath = (pool: string, sha256: string): string => join(pool, sha256.slice(0, 2), sha256);

/**
 * Starts with a letter or digit, which excludes `.`, `..`, `.htaccess` and `.incoming`; limited to
 * the 255 bytes of file systems.
 */
const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/;
/** Windows device names, with any extension, and trailing dots, which Windows drops. */
const WINDOWS_RESERVED_PATTERN = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)|\.$/i;

export const isValidName = (name: string): boolean =>
  NAME_PATTERN.test(name) && !(process.platform === 'win32' && WINDOWS_RESERVED_PATTERN.test(name));

/** @throws TypeError for an invalid name, which the caller must have rejected */
export function requireValidName(name: string): string {
  if (!isValidName(name))
    throw new TypeError('a name in the release store may contain only letters, digits, `.`, `_` and `-`');
  return name;
}

export const getPackageFolder = (root: string, { product, channel, version, platform }: ReleaseLocation): string =>
  join(
    root,
    requireValidName(product),
    requireValidName(channel),
    requireValidName(version),
    requireValidName(platform),
  );

export async function hasOnlyFolders(root: string, segments: readonly string[]): Promise<boolean> {
  let folder = root;
  for (const segment of segments.slice(0, -1)) {
    folder = join(folder, segment);
    if (!(await lstat(folder)).isDirectory()) return false;
  }
  return true;
}
