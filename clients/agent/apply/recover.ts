/**
 * The journal is removed before the staging, otherwise the missing staged manifest would look like
 * a commit (contract 90, update: "without the commit everything is undone, after it everything is
 * finished; recovery may itself be killed").
 */
import { appendFile, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AgentFailure, getErrorCode } from '../exit.js';
import type { AgentOutput } from '../output.js';
import { hashFile, isHeldError, statPath, syncDirectory, retryWhileHeld } from '../system/files.js';
import type { Hooks } from '../hooks.js';
import type { InstallationLayout } from '../layout.js';
import { undoTransaction, type Transaction } from './apply.js';
import { readHead, type JournalHead } from './journal.js';
import { copyWithMode, keepBackup } from './previous-version.js';
import { ParentValidator } from '../system/parent-validator.js';

export type RecoveryResult = { kind: 'nothing' } | { kind: 'rolled back' | 'finished'; head: JournalHead };

export async function recoverTransaction(
  layout: InstallationLayout,
  own: string | null,
  hooks: Hooks,
): Promise<RecoveryResult> {
  const head = await readHead(layout);
  if (head === 'none' || head === 'unreadable') {
    if (head === 'unreadable' && (await hasFiles(layout.backups)))
      throw new AgentFailure(
        'rollbackIncomplete',
        `${layout.journal} cannot be read; the backup remains in ${layout.backups}`,
      );
    await removeLeftovers(layout);
    return { kind: 'nothing' };
  }
  const transaction = { layout, head, hooks };
  await checkParents(transaction);
  if ((await statPath(layout.getStagedManifest(head.tx))) === null) {
    await finishTransaction(transaction, own);
    return { kind: 'finished', head };
  }
  await rollBack(transaction);
  return { kind: 'rolled back', head };
}

/** Exit 5 when a file cannot be restored: journal and backup stay, and the next start retries. */
export async function rollBack(transaction: Transaction): Promise<void> {
  const { layout, head, hooks } = transaction;
  await rm(layout.reserve, { force: true }).catch(() => undefined);
  const failed = await undoTransaction(transaction);
  // Informative only; a full disk must not stop a rollback.
  await appendFile(layout.journal, `${JSON.stringify({ step: 'undone', failed: failed.length })}\n`).catch(
    () => undefined,
  );
  if (failed.length > 0) {
    const what = failed.slice(0, 5).join('; ');
    throw new AgentFailure(
      'rollbackIncomplete',
      `not restored: ${what}; the backup remains in ${layout.getBackupFolder(head.tx)}`,
    );
  }
  hooks.at('before forgetting', '');
  await rm(layout.journal, { force: true });
  await syncDirectory(layout.own);
  hooks.at('forgotten', '');
  await removeLeftovers(layout);
}

export async function finishTransaction({ layout, head, hooks }: Transaction, own: string | null): Promise<void> {
  const installed = await hashFile(layout.manifest).catch(() => null);
  if (installed !== head.manifest_sha256)
    throw new AgentFailure(
      'rollbackIncomplete',
      `${layout.manifest} is not from this update; the backup remains in ${layout.getBackupFolder(head.tx)}`,
    );
  await syncDirectory(layout.root);
  await keepUserFiles({ layout, head, hooks });
  hooks.at('before cleaning', '');
  if (head.restores !== undefined) await rm(layout.getPreviousFolder(head.restores), { recursive: true, force: true });
  else if (await keepBackup(layout, head)) hooks.at('backup kept', '');
  await removeBackup(layout, head, own);
  hooks.at('backup gone', '');
  await rm(layout.journal, { force: true });
  await syncDirectory(layout.own);
  hooks.at('journal gone', '');
  for (const path of [layout.stagings, layout.reserve]) await rm(path, { recursive: true, force: true });
}

async function keepUserFiles({ layout, head, hooks }: Transaction): Promise<void> {
  for (const { path, keptAs } of head.plan.files) {
    if (keptAs === undefined || (await statPath(layout.getBackupFile(head.tx, path))) === null) continue;
    const from = layout.getBackupFile(head.tx, path);
    const to = layout.resolvePath(keptAs);
    if ((head.keep ?? 0) === 0) await retryWhileHeld(!head.links, () => rename(from, to));
    else if ((await statPath(to)) === null) {
      // The kept version needs the file as well.
      const copy = layout.getStagedUserFile(head.tx);
      await mkdir(layout.getStagingFolder(head.tx), { recursive: true, mode: 0o700 });
      await copyWithMode(from, copy);
      await retryWhileHeld(!head.links, () => rename(copy, to));
    }
    await syncDirectory(dirname(layout.resolvePath(keptAs)));
    hooks.at('user file kept', path);
  }
}

export function reportKept(output: AgentOutput, { plan }: JournalHead): void {
  for (const { path, keptAs } of plan.files) if (keptAs !== undefined) output.reportUserFileKept(path, keptAs);
}

/** Running programs' files may stay until a later start, because Windows does not remove them. */
async function removeBackup(layout: InstallationLayout, { tx, links }: JournalHead, own: string | null): Promise<void> {
  const retainedPath = own === null ? null : layout.getBackupFile(tx, own);
  const isKept = retainedPath !== null && (await statPath(retainedPath)) !== null;
  if (links && !isKept) return rm(layout.getBackupFolder(tx), { recursive: true, force: true });
  const unlessHeld = (error: unknown): void => {
    if (!isHeldError(error) && !['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(getErrorCode(error))) throw error;
  };
  const sweep = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) await sweep(path);
      else if (path !== retainedPath) await rm(path, { force: true }).catch(unlessHeld);
    }
    await rmdir(folder).catch(unlessHeld);
  };
  await sweep(layout.getBackupFolder(tx)).catch(unlessHeld);
}

async function removeLeftovers(layout: InstallationLayout): Promise<void> {
  for (const path of [layout.journal, `${layout.journal}.new`, layout.stagings, layout.reserve])
    await rm(path, { recursive: true, force: true });
  for (const name of await readdir(layout.backups).catch(() => []))
    // Windows denies this while an old agent still runs; a later start retries.
    await rm(join(layout.backups, name), { recursive: true, force: true }).catch(() => undefined);
  for (const name of (await readdir(layout.own)).filter((entry) => entry.startsWith('probe-')))
    await rm(join(layout.own, name), { recursive: true, force: true });
}

async function hasFiles(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.some((entry) => !entry.isDirectory());
}

/** A link that appeared since the crash is not followed either. */
async function checkParents({ layout, head }: Transaction): Promise<void> {
  const parents = await ParentValidator.of(layout.root);
  const { removals, emptied, directories, files } = head.plan;
  for (const path of [...[...removals, ...emptied, ...files].map((step) => step.path), ...directories])
    await parents.of(path);
}

export async function prepareFolders(layout: InstallationLayout): Promise<void> {
  for (const path of [layout.own, layout.download, layout.stagings, layout.backups, layout.log])
    await mkdir(path, { recursive: true, mode: 0o700 });
}
