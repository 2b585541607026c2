/**
 * Files that decide whom the service believes and what it runs: who may have written them is asked before they are
 * read. What lies in the data directory under a name of the service's must be this user's or root's, links included,
 * and nobody else may write to it: in a folder such as `/tmp` another user may have put it there before the first
 * start. Of a file that somebody named (a configuration, a secret, a plugin) only that not every user may write to it:
 * whose it is was chosen with its name. Of a file that was found where a program was started also that not every user
 * may put one there.
 *
 * Not seen: a further name (hard link) of a file of root's, which Linux refuses strangers to make
 * (`fs.protected_hardlinks`).
 */
import type { Stats } from 'node:fs';
import { lstat, open, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

type Owned = Pick<Stats, 'uid' | 'gid' | 'mode'>;

/** One sentence with the path, what is wrong and the mend. */
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

const EVERYBODY_WRITES = 0o002;
const GROUP_WRITES = 0o020;
/** In a folder with this bit nobody replaces the files of another user. */
const STICKY = 0o1000;
const LOOK = 'see that its content is yours, then take that right away (chmod go-w)';

/** File systems whose owners and modes come from the mount: 9p, FUSE, FAT, exFAT, NTFS, SMB. */
const WITHOUT_MODES = new Set([0x01021997, 0x65735546, 0x4d44, 0x2011bab0, 0x5346544e, 0xff534d42, 0xfe534d42]);

async function judged(path: string, problem: string | null): Promise<void> {
  if (problem === null) return;
  if (WITHOUT_MODES.has((await statfs(dirname(path))).type)) return;
  throw new UntrustedFile(path, problem);
}

/** Null: only this user, or root, can have written it. @param folder where it lies: root goes by its owner, too */
function strangeIn({ uid, gid, mode }: Owned, folder: Owned): string | null {
  const own = process.geteuid?.();
  if (own === undefined) return null;
  if (uid !== own && uid !== 0 && !(own === 0 && uid === folder.uid))
    return (
      `belongs to user ${uid}, and this is user ${own}: remove it if that user has put it there, else give it to ` +
      'this user (chown), or run this as that user'
    );
  if ((mode & EVERYBODY_WRITES) !== 0) return `may be written by every user: ${LOOK}`;
  const foreign = gid !== folder.gid && process.getgroups?.().includes(gid) !== true;
  return (mode & GROUP_WRITES) !== 0 && foreign ? `may be written by group ${gid}: ${LOOK}` : null;
}

/** Of a plain file, and of a folder where everybody may replace everything. Pipes and devices are who opened them. */
function isOpenToAll(found: Stats): string | null {
  const judges = found.isFile() || (found.isDirectory() && (found.mode & STICKY) === 0);
  const open = process.platform !== 'win32' && judges && (found.mode & EVERYBODY_WRITES) !== 0;
  return open ? `may be written by every user: ${LOOK}` : null;
}

const there = async <T>(look: Promise<T>): Promise<T | null> =>
  look.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });

/**
 * Of a file or folder in the data directory; nothing where there is none.
 * @param kind a folder in the place of a file is told by whoever opens the file @throws UntrustedFile
 */
export async function refuseStrange(path: string, kind: 'file' | 'any' = 'any'): Promise<void> {
  const link = await there(lstat(path));
  if (link === null) return;
  const folder = await stat(dirname(path));
  // Of a link the modes mean nothing.
  if (link.isSymbolicLink()) await judged(path, strangeIn({ uid: link.uid, gid: link.gid, mode: 0 }, folder));
  const file = await there(stat(path));
  if (file !== null && (kind === 'any' || file.isFile())) await judged(path, strangeIn(file, folder));
}

/** The text of a file in the data directory, judged as it is read. @throws UntrustedFile; ENOENT and the like */
export async function readOwn(path: string): Promise<string> {
  await refuseStrange(path);
  const file = await open(path, 'r');
  try {
    await judged(path, strangeIn(await file.stat(), await stat(dirname(path))));
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** The text of a file that somebody named. @throws UntrustedFile where everybody may write to it; ENOENT, … */
export async function readNamed(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    await judged(path, isOpenToAll(await file.stat()));
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/**
 * The text of a file that nobody named, found in the folder where a program was started. In a folder such as `/tmp` it
 * must be this user's or root's, its link too. @throws UntrustedFile; ENOENT, …
 */
export async function readFound(path: string): Promise<string> {
  const text = await readNamed(path);
  const folder = dirname(path);
  await refuseOpen(folder);
  if (((await stat(folder)).mode & EVERYBODY_WRITES) !== 0) await refuseStrange(path);
  return text;
}

/** Of a file or folder that somebody named; nothing where there is none. @throws UntrustedFile */
export async function refuseOpen(path: string): Promise<void> {
  const found = await there(stat(path));
  if (found !== null) await judged(path, isOpenToAll(found));
}
