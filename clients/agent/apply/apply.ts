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
import { codeOf, AgentFailure } from '../exit.js';
import { look, syncDirectory, whileHeld } from '../system/files.js';
import type { Hooks } from '../hooks.js';
import type { Layout } from '../layout.js';
import type { DirectoryStep, FileStep, Head, Journal } from './journal.js';

const DIRECTORY_MODE = 0o755;
const OWN_MODE = 0o700;

export interface Transaction {
  layout: Layout;
  head: Head;
  hooks: Hooks;
}

/**
 * Runs all steps before the commit. Throws when a step fails or `signal` aborts; the caller then
 * undoes them.
 */
export async function apply(transaction: Transaction, journal: Journal, signal: AbortSignal): Promise<void> {
  const { layout, head, hooks } = transaction;
  const { removals, emptied, directories, files } = head.plan;
  const step = async (what: string, path: string, work: () => Promise<void>): Promise<void> => {
    signal.throwIfAborted();
    hooks.at(`before ${what}`, path);
    await work();
    await journal.step(what, path);
    hooks.at(`after ${what}`, path);
  };
  for (const removal of removals) await step('remove', removal.path, () => moveOld(transaction, removal));
  for (const { path } of emptied) await step('rmdir', path, () => whileHeld(!head.links, () => rmdir(layout.at(path))));
  for (const path of directories) await step('mkdir', path, () => makeDirectory(layout.at(path)));
  for (const file of files)
    await step(file.old === null ? 'create' : 'replace', file.path, () => place(transaction, file));
  for (const folder of touched(transaction)) await syncDirectory(folder);
  signal.throwIfAborted();
}

/** A transaction is committed exactly when the staged manifest is gone. */
export async function commit({ layout, head, hooks }: Transaction): Promise<void> {
  hooks.at('before commit', '');
  await whileHeld(!head.links, () => rename(layout.stagedManifest(head.tx), layout.manifest));
  hooks.at('after commit', '');
  await syncDirectory(layout.root);
  await syncDirectory(layout.staging(head.tx));
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
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(codeOf(error))) throw error;
  });
}

async function place(transaction: Transaction, file: FileStep): Promise<void> {
  const { layout, head, hooks } = transaction;
  const at = layout.at(file.path);
  if (file.old === null) {
    if ((await look(at)) !== null) throw new AgentFailure('error', `${at} was not there when the update was planned`);
  } else if (!(await linkOld(transaction, file))) await moveOld(transaction, file);
  hooks.at('old is safe', file.path);
  await whileHeld(!head.links, () => rename(layout.staged(head.tx, file.path), at));
}

/** @returns false when this file or file system does not support hard links */
async function linkOld({ layout, head, hooks }: Transaction, file: FileStep): Promise<boolean> {
  if (!head.links || file.old?.kind !== 'file' || file.found !== undefined) return false;
  const to = layout.backedUp(head.tx, file.path);
  await mkdir(dirname(to), { recursive: true, mode: OWN_MODE });
  hooks.at('backup folder made', file.path);
  return link(layout.at(file.path), to).then(
    () => true,
    (error: unknown) => {
      if (['EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error))) return false;
      throw error;
    },
  );
}

async function moveOld({ layout, head, hooks }: Transaction, file: FileStep): Promise<void> {
  const to = layout.backedUp(head.tx, file.path);
  await mkdir(dirname(to), { recursive: true, mode: OWN_MODE });
  hooks.at('backup folder made', file.path);
  await whileHeld(!head.links, () => rename(layout.at(file.found ?? file.path), to));
}

function touched({ layout, head }: Transaction): Set<string> {
  const { removals, emptied, directories, files } = head.plan;
  const gone = new Set(emptied.map(({ path }) => layout.at(path)));
  const made = directories.map((path) => layout.at(path));
  const paths = [...[...removals, ...emptied, ...files].map(({ path }) => layout.at(path)), ...made];
  const folders = new Set([...paths.map((path) => dirname(path)), ...made]);
  return new Set([...folders].filter((folder) => !gone.has(folder) || made.includes(folder)));
}

/**
 * Undoes all steps in reverse order; steps not done or already undone are skipped. A failing step
 * does not stop the others.
 * @returns one line for each failure
 */
export async function undo(transaction: Transaction): Promise<string[]> {
  const { layout, head, hooks } = transaction;
  const { removals, emptied, directories, files } = head.plan;
  const failed: string[] = [];
  const step = async (what: string, path: string, work: () => Promise<void>): Promise<void> => {
    try {
      hooks.at(`before ${what}`, path);
      await whileHeld(!head.links, work);
      hooks.at(`after ${what}`, path);
    } catch (error) {
      failed.push(`${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  for (const file of files.toReversed()) await step('undo file', file.path, () => undoFile(transaction, file));
  for (const path of directories.toReversed()) await step('undo mkdir', path, () => removeIfEmpty(layout.at(path)));
  for (const folder of emptied.toReversed())
    await step('undo rmdir', folder.path, () => remake(layout.at(folder.path), folder));
  for (const removal of removals.toReversed())
    await step('undo remove', removal.path, () => undoFile(transaction, removal));
  for (const folder of await oldFolders(transaction)) await step('sync', folder, () => syncDirectory(folder));
  return failed;
}

async function undoFile({ layout, head, hooks }: Transaction, file: FileStep): Promise<void> {
  const [at, staged] = [layout.at(file.path), layout.staged(head.tx, file.path)];
  const wasPlaced = async (): Promise<boolean> => (await look(staged)) === null && (await look(at)) !== null;
  if (file.old === null) {
    if (await wasPlaced()) await rename(at, staged);
    return;
  }
  const backup = layout.backedUp(head.tx, file.path);
  const kept = await look(backup);
  if (kept === null) return;
  if (file.found !== undefined && file.new !== null && (await wasPlaced())) {
    // A file renamed over another spelling of its name would take that spelling.
    await rename(at, staged);
    hooks.at('between', file.path);
  }
  const now = await look(at);
  if (head.links && now !== null && now.ino === kept.ino && now.dev === kept.dev) await rm(backup);
  else await rename(backup, layout.at(file.found ?? file.path));
}

async function removeIfEmpty(path: string): Promise<void> {
  await rmdir(path).catch((error: unknown) => {
    if (!['ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
  });
}

async function remake(path: string, { mode, uid, gid }: DirectoryStep): Promise<void> {
  if ((await look(path)) !== null) return;
  await mkdir(path, { mode: OWN_MODE });
  if (process.geteuid?.() === 0) await chown(path, uid, gid);
  await setMode(path, Number.parseInt(mode, 8));
}

async function oldFolders(transaction: Transaction): Promise<string[]> {
  const found: string[] = [];
  for (const folder of touched(transaction)) if ((await look(folder))?.isDirectory() === true) found.push(folder);
  return found;
}
