/**
 * Verifies who could have written files that the service trusts or executes. Files in the data
 * directory and their links must belong to this user or root, writable by no one else; configured
 * files must not be world-writable.
 */
import type { Stats } from 'node:fs';
import { lstat, open, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

type FileOwnership = Pick<Stats, 'uid' | 'gid' | 'mode'>;

/** One sentence with path, problem and fix. */
export class UntrustedFile extends Error {
  override name = 'UntrustedFile';
  /** @param problem follows the path in the sentence */
  constructor(
    readonly path: string,
    readonly problem: string,
  ) {
    super(`${path} ${problem}`);
  }
}

const WORLD_WRITABLE_BIT = 0o002;
const GROUP_WRITABLE_BIT = 0o020;
/** Users cannot replace each other's files in a sticky folder. */
const STICKY_BIT = 0o1000;
const OWNERSHIP_FIX = 'check that its content is yours, then remove that permission (chmod go-w)';

/** Owners and modes come from the mount. */
const FILE_SYSTEMS_WITHOUT_MODES = new Set([
  0x01021997, 0x65735546, 0x4d44, 0x2011bab0, 0x5346544e, 0xff534d42, 0xfe534d42,
]);

async function requireTrusted(path: string, problem: string | null): Promise<void> {
  if (problem === null) return;
  if (FILE_SYSTEMS_WITHOUT_MODES.has((await statfs(dirname(path))).type)) return;
  throw new UntrustedFile(path, problem);
}

/** @param folder its folder, whose group is trusted, and for root its owner */
function findOwnershipFault({ uid, gid, mode }: FileOwnership, folder: FileOwnership): string | null {
  const own = process.geteuid?.();
  if (own === undefined) return null;
  if (uid !== own && uid !== 0 && !(own === 0 && uid === folder.uid))
    return (
      `belongs to user ${uid}, but this is user ${own}: remove it if that user put it there, otherwise change its owner to ` +
      'this user (chown), or run this as that user'
    );
  if ((mode & WORLD_WRITABLE_BIT) !== 0) return `is writable by every user: ${OWNERSHIP_FIX}`;
  const foreign = gid !== folder.gid && process.getgroups?.().includes(gid) !== true;
  return (mode & GROUP_WRITABLE_BIT) !== 0 && foreign ? `is writable by group ${gid}: ${OWNERSHIP_FIX}` : null;
}

/** Checks files, and folders where everyone may replace files. */
function findWriteAccessFault(found: Stats): string | null {
  const isWriteBitRelevant = found.isFile() || (found.isDirectory() && (found.mode & STICKY_BIT) === 0);
  const open = process.platform !== 'win32' && isWriteBitRelevant && (found.mode & WORLD_WRITABLE_BIT) !== 0;
  return open ? `is writable by every user: ${OWNERSHIP_FIX}` : null;
}

const ignoreMissing = async <T>(look: Promise<T>): Promise<T | null> =>
  look.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });

/**
 * Requires a trusted owner of an existing path in the data directory.
 * @param kind `file` ignores folders, which fail when opened
 * @throws UntrustedFile
 */
export async function requireOwnedFile(path: string, kind: 'file' | 'any' = 'any'): Promise<void> {
  const link = await ignoreMissing(lstat(path));
  if (link === null) return;
  const folder = await stat(dirname(path));
  // Modes of a link are meaningless.
  if (link.isSymbolicLink())
    await requireTrusted(path, findOwnershipFault({ uid: link.uid, gid: link.gid, mode: 0 }, folder));
  const file = await ignoreMissing(stat(path));
  if (file !== null && (kind === 'any' || file.isFile())) await requireTrusted(path, findOwnershipFault(file, folder));
}

/**
 * Reads a file in the data directory and verifies its ownership.
 * @throws UntrustedFile; ENOENT and the like
 */
export async function readOwnedFile(path: string): Promise<string> {
  await requireOwnedFile(path);
  const file = await open(path, 'r');
  try {
    await requireTrusted(path, findOwnershipFault(await file.stat(), await stat(dirname(path))));
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** Reads a configured file. @throws UntrustedFile when world-writable; ENOENT, … */
export async function readConfiguredFile(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    await requireTrusted(path, findWriteAccessFault(await file.stat()));
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/**
 * Reads a file discovered in the working folder. In a shared folder such as `/tmp`, it and its link
 * must belong to this user or root.
 * @throws UntrustedFile; ENOENT, …
 */
export async function readDiscoveredFile(path: string): Promise<string> {
  const text = await readConfiguredFile(path);
  const folder = dirname(path);
  await requireRestrictedFile(folder);
  if (((await stat(folder)).mode & WORLD_WRITABLE_BIT) !== 0) await requireOwnedFile(path);
  return text;
}

/**
 * Requires that a configured path, if it exists, is not world-writable.
 * @throws UntrustedFile
 */
export async function requireRestrictedFile(path: string): Promise<void> {
  const found = await ignoreMissing(stat(path));
  if (found !== null) await requireTrusted(path, findWriteAccessFault(found));
}
