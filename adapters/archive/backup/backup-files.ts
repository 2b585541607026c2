/** Names of automatic backups contain their creation time, which copies preserve. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupInfo } from '../../../ports/store/backups.js';
import { getErrorCode } from '../files.js';
import { removeStaleFiles } from '../temporary-files.js';

const BACKUP_NAME_PATTERN = /^aos-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(?:-before-([A-Za-z0-9._-]{1,60}))?\.tar\.gz$/;

const toNamePart = (version: string): string => version.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 60);

/**
 * @param at RFC 3339, UTC
 * @param before version whose migration the backup precedes
 */
export function formatBackupName(at: string, before?: string): string {
  const time = `${at.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const suffix = before === undefined ? '' : `-before-${toNamePart(before)}`;
  return `aos-${time}${suffix}.tar.gz`;
}

interface BackupName {
  name: string;
  at: string;
  /** Null for backups not made before a migration. */
  before: string | null;
}

function parseBackupName(name: string): BackupName | null {
  const [, year, month, day, hour, minute, second, before = null] = BACKUP_NAME_PATTERN.exec(name) ?? [];
  if (year === undefined) return null;
  return { name, at: `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`, before };
}

async function listBackups(folder: string): Promise<BackupName[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') return [];
    throw error;
  });
  return names.flatMap((name) => parseBackupName(name) ?? []).toSorted((a, b) => (a.name < b.name ? 1 : -1));
}

/**
 * Returns the newest backup in a folder, or null.
 * @param now milliseconds; later backups are ignored, because the clock was wrong when they were
 *   made
 */
export async function findNewestBackupIn(
  folder: string,
  now: number,
  before: string | null = null,
): Promise<BackupInfo | null> {
  for (const { name, at, before: version } of await listBackups(folder)) {
    if (Date.parse(at) > now || (before !== null && version !== toNamePart(before))) continue;
    const path = join(folder, name);
    const stats = await stat(path).catch((error: unknown) => {
      if (getErrorCode(error) === 'ENOENT') return null;
      throw error;
    });
    if (stats?.isFile() === true) return { path, at, bytes: stats.size };
  }
  return null;
}

/** @param needed version whose copies are retained for a rollback */
export async function pruneBackups(
  folder: string,
  keep: number,
  now: number,
  needed: string | null = null,
): Promise<void> {
  const isNeeded = ({ before }: BackupName): boolean => needed !== null && before === toNamePart(needed);
  const all = (await listBackups(folder)).filter((one) => !isNeeded(one));
  for (const isCopy of [false, true])
    for (const { name } of all.filter(({ before }) => (before !== null) === isCopy).slice(keep))
      await rm(join(folder, name), { force: true });
  await removeStaleFiles(folder, now);
}
