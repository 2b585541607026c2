/**
 * Applies a plan and undoes it (contract 90, journal). Only renames change files of the
 * installation, so each path always has the whole old or the whole new file. Backup and staging
 * show which state a crash left:
 * - with links: old in place → old in place and in the backup (one file) → new in place, old in the
 *   backup
 * - without links: old in place, new staged → nothing in place, old in the backup → new in place,
 *   old in the backup
 * - a new path: nothing in place, new staged → new in place, none staged
 */
import { chmod, chown, link, mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getErrorCode, AgentFailure } from '../exit.js';
import { statPath, syncDirectory, retryWhileHeld } from '../system/files.js';
import type { Hooks } from '../hooks.js';
import type { InstallationLayout } from '../layout.js';
import type { DirectoryStep, FileStep, JournalHead, Journal } from './journal.js';

const DIRECTORY_MODE = 0o755;
const PRIVATE_MODE = 0o700;

export interface Transaction {
  layout: InstallationLayout;
  head: JournalHead;
  hooks: Hooks;
}

/** Throws when a step fails or `signal` aborts; the caller then undoes them. */
export async function applyPlan(transaction: Transaction, journal: Journal, signal: AbortSignal): Promise<void> {
  const { layout, head, hooks } = transaction;
  const { removals, emptied, directories, files } = head.plan;
  const step = async (what: string, path: string, work: () => Promise<void>): Promise<void> => {
    signal.throwIfAborted();
    hooks.at(`before ${what}`, path);
    await work();
    await journal.recordStep(what, path);
    hooks.at(`after ${what}`, path);
  };
  for (const removal of removals) await step('remove', removal.path, () => moveToBackup(transaction, removal));
  for (const { path } of emptied)
    await step('rmdir', path, () => retryWhileHeld(!head.links, () => rmdir(layout.resolvePath(path))));
  for (const path of directories) await step('mkdir', path, () => makeDirectory(layout.resolvePath(path)));
  for (const file of files)
    await step(file.old === null ? 'create' : 'replace', file.path, () => placeFile(transaction, file));
  for (const folder of listChangedDirectories(transaction)) await syncDirectory(folder);
  signal.throwIfAborted();
}

/** A transaction is committed exactly when the staged manifest is gone. */
export async function commitTransaction({ layout, head, hooks }: Transaction): Promise<void> {
  hooks.at('before commit', '');
  await retryWhileHeld(!head.links, () => rename(layout.getStagedManifest(head.tx), layout.manifest));
  hooks.at('after commit', '');
  await syncDirectory(layout.root);
  await syncDirectory(layout.getStagingFolder(head.tx));
}

async function makeDirectory(path: string): Promise<void> {
  await mkdir(path, { mode: DIRECTORY_MODE });
  await setMode(path, DIRECTORY_MODE);
}

/**
 * Sets the mode regardless of the umask. File systems without modes reject it, and the error is
 * ignored.
 */
export async function setMode(path: string, mode: number): Promise<void> {
  await chmod(path, mode).catch((error: unknown) => {
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(getErrorCode(error))) throw error;
  });
}

async function placeFile(transaction: Transaction, file: FileStep): Promise<void> {
  const { layout, head, hooks } = transaction;
  const at = layout.resolvePath(file.path);
  if (file.old === null) {
    if ((await statPath(at)) !== null)
      throw new AgentFailure('error', `${at} did not exist when the update was planned`);
  } else if (!(await linkToBackup(transaction, file))) await moveToBackup(transaction, file);
  hooks.at('old is safe', file.path);
  await retryWhileHeld(!head.links, () => rename(layout.getStagedFile(head.tx, file.path), at));
}

/** @returns false when this file or file system does not support hard links */
async function linkToBackup({ layout, head, hooks }: Transaction, file: FileStep): Promise<boolean> {
  if (!head.links || file.old?.kind !== 'file' || file.found !== undefined) return false;
  const to = layout.getBackupFile(head.tx, file.path);
  await mkdir(dirname(to), { recursive: true, mode: PRIVATE_MODE });
  hooks.at('backup folder made', file.path);
  return link(layout.resolvePath(file.path), to).then(
    () => true,
    (error: unknown) => {
      if (['EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(getErrorCode(error))) return false;
      throw error;
    },
  );
}

async function moveToBackup({ layout, head, hooks }: Transaction, file: FileStep): Promise<void> {
  const to = layout.getBackupFile(head.tx, file.path);
  await mkdir(dirname(to), { recursive: true, mode: PRIVATE_MODE });
  hooks.at('backup folder made', file.path);
  await retryWhileHeld(!head.links, () => rename(layout.resolvePath(file.found ?? file.path), to));
}

function listChangedDirectories({ layout, head }: Transaction): Set<string> {
  const { removals, emptied, directories, files } = head.plan;
  const gone = new Set(emptied.map(({ path }) => layout.resolvePath(path)));
  const made = directories.map((path) => layout.resolvePath(path));
  const paths = [...[...removals, ...emptied, ...files].map(({ path }) => layout.resolvePath(path)), ...made];
  const folders = new Set([...paths.map((path) => dirname(path)), ...made]);
  return new Set([...folders].filter((folder) => !gone.has(folder) || made.includes(folder)));
}

/**
 * Undoes all steps in reverse order; steps not done or already undone are skipped. A failing step
 * does not stop the others.
 * @returns one line for each failure
 */
export async function undoTransaction(transaction: Transaction): Promise<string[]> {
  const { layout, head, hooks } = transaction;
  const { removals, emptied, directories, files } = head.plan;
  const failed: string[] = [];
  const step = async (what: string, path: string, work: () => Promise<void>): Promise<void> => {
    try {
      hooks.at(`before ${what}`, path);
      await retryWhileHeld(!head.links, work);
      hooks.at(`after ${what}`, path);
    } catch (error) {
      failed.push(`${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  for (const file of files.toReversed()) await step('undo file', file.path, () => undoFile(transaction, file));
  for (const path of directories.toReversed())
    await step('undo mkdir', path, () => removeIfEmpty(layout.resolvePath(path)));
  for (const folder of emptied.toReversed())
    await step('undo rmdir', folder.path, () => recreateDirectory(layout.resolvePath(folder.path), folder));
  for (const removal of removals.toReversed())
    await step('undo remove', removal.path, () => undoFile(transaction, removal));
  for (const folder of await listExistingFolders(transaction)) await step('sync', folder, () => syncDirectory(folder));
  return failed;
}

async function undoFile({ layout, head, hooks }: Transaction, file: FileStep): Promise<void> {
  const [at, staged] = [layout.resolvePath(file.path), layout.getStagedFile(head.tx, file.path)];
  const wasPlaced = async (): Promise<boolean> => (await statPath(staged)) === null && (await statPath(at)) !== null;
  if (file.old === null) {
    if (await wasPlaced()) await rename(at, staged);
    return;
  }
  const backup = layout.getBackupFile(head.tx, file.path);
  const backupStats = await statPath(backup);
  if (backupStats === null) return;
  if (file.found !== undefined && file.new !== null && (await wasPlaced())) {
    // A file renamed over another spelling of its name would take that spelling.
    await rename(at, staged);
    hooks.at('between', file.path);
  }
  const now = await statPath(at);
  if (head.links && now !== null && now.ino === backupStats.ino && now.dev === backupStats.dev) await rm(backup);
  else await rename(backup, layout.resolvePath(file.found ?? file.path));
}

async function removeIfEmpty(path: string): Promise<void> {
  await rmdir(path).catch((error: unknown) => {
    if (!['ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'].includes(getErrorCode(error))) throw error;
  });
}

async function recreateDirectory(path: string, { mode, uid, gid }: DirectoryStep): Promise<void> {
  if ((await statPath(path)) !== null) return;
  await mkdir(path, { mode: PRIVATE_MODE });
  if (process.geteuid?.() === 0) await chown(path, uid, gid);
  await setMode(path, Number.parseInt(mode, 8));
}

async function listExistingFolders(transaction: Transaction): Promise<string[]> {
  const found: string[] = [];
  for (const folder of listChangedDirectories(transaction))
    if ((await statPath(folder))?.isDirectory() === true) found.push(folder);
  return found;
}
