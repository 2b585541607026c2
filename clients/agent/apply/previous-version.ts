/**
 * Versions kept for `--action rollback` (contract 97, rollback). The backup of an update becomes
 * `.update-agent/previous/<hash>/`: what the update replaced or removed, and the manifest of the
 * version before. The hash is that of the manifest that the update installed, so a folder applies
 * exactly while that version is installed.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { chown, mkdir, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ReleaseManifest } from '../../../lib/formats/manifest.js';
import { AgentFailure } from '../exit.js';
import type { InstallationLayout } from '../layout.js';
import { hashFile, isHeldError, ON_WINDOWS, statPath, syncDirectory, syncFile } from '../system/files.js';
import { parseManifest } from '../trust/release-verification.js';
import { setMode } from './apply.js';
import type { JournalHead } from './journal.js';

export interface PreviousVersion {
  manifest: ReleaseManifest;
  bytes: Buffer;
  /** SHA-256 of the installed manifest, which names the folder. */
  name: string;
}

/** Copies the installed manifest into the backup, because the commit renames over it. */
export async function backUpManifest(layout: InstallationLayout, tx: string): Promise<void> {
  if ((await statPath(layout.manifest)) === null) return;
  await mkdir(layout.getBackupFolder(tx), { recursive: true, mode: 0o700 });
  const copy = layout.getBackupManifest(tx);
  await copyBytes(layout.manifest, copy);
  await syncFile(copy);
}

/**
 * Moves the backup of a committed update to the kept versions, and removes all but the newest.
 * Without anything to keep it does nothing.
 * @returns whether the backup was moved, also by an earlier run
 */
export async function keepBackup(layout: InstallationLayout, head: JournalHead): Promise<boolean> {
  const { tx, manifest_sha256: name, keep = 0 } = head;
  if (keep > 0 && (await statPath(layout.getBackupManifest(tx))) !== null) {
    await mkdir(layout.previous, { recursive: true, mode: 0o700 });
    await rm(layout.getPreviousFolder(name), { recursive: true, force: true });
    try {
      await rename(layout.getBackupFolder(tx), layout.getPreviousFolder(name));
    } catch (error) {
      // Windows moves no folder with a running program: this update keeps no version before it.
      if (!ON_WINDOWS || !isHeldError(error)) throw error;
      return false;
    }
    await syncDirectory(layout.previous);
  }
  await removeOldVersions(layout, name, keep);
  return (await statPath(layout.getBackupFolder(tx))) === null;
}

/** Keeps the version before the installed one, the version before that, and so on. */
async function removeOldVersions(layout: InstallationLayout, newest: string, keep: number): Promise<void> {
  const retained = new Set<string>();
  let name: string | null = newest;
  while (name !== null && retained.size < keep && !retained.has(name)) {
    retained.add(name);
    name = await hashFile(join(layout.getPreviousFolder(name), 'manifest.json')).catch(() => null);
  }
  for (const other of await readdir(layout.previous).catch(() => []))
    if (!retained.has(other)) await rm(join(layout.previous, other), { recursive: true, force: true });
}

/** @throws AgentFailure exit 5 when no version before the installed one is kept */
export async function loadPreviousVersion(layout: InstallationLayout): Promise<PreviousVersion> {
  const name = await hashFile(layout.manifest).catch(() => null);
  if (name === null) throw new AgentFailure('rollbackIncomplete', 'no installation found; nothing was changed');
  const path = join(layout.getPreviousFolder(name), 'manifest.json');
  if ((await statPath(path)) === null)
    throw new AgentFailure(
      'rollbackIncomplete',
      'no backup of an earlier version exists (--keep-backups); nothing was changed',
    );
  const bytes = await readFile(path);
  try {
    return { manifest: parseManifest(bytes), bytes, name };
  } catch (error) {
    if (!(error instanceof AgentFailure)) throw error;
    throw new AgentFailure('rollbackIncomplete', `${path}: ${error.message}; nothing was changed`, { cause: error });
  }
}

/** Copies a file with its mode, and as root with its owner. */
export async function copyWithMode(from: string, to: string): Promise<void> {
  const stats = await statPath(from);
  await copyBytes(from, to);
  if (stats === null) return;
  await setMode(to, stats.mode & 0o7777);
  if (!ON_WINDOWS && process.geteuid?.() === 0) await chown(to, stats.uid, stats.gid);
  await syncFile(to);
}

/** Not copyFile, because user-space file systems reject its system call. */
async function copyBytes(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  await pipeline(createReadStream(from), createWriteStream(to, { flags: 'wx', mode: 0o600 }));
}
