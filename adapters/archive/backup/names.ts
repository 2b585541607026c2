/**
 * The files that the service makes by itself, one folder of them: their names hold when they were made, so that a copy
 * keeps it.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupNote } from '../../../ports/store/backups.js';
import { codeOf } from '../files.js';
import { removeStale } from '../stale.js';

const NAME = /^aos-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(?:-before-([A-Za-z0-9._-]{1,60}))?\.tar\.gz$/;

const toNamePart = (version: string): string => version.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 60);

/** @param at RFC 3339, UTC @param before version whose migration it comes before */
export function nameOf(at: string, before?: string): string {
  const time = `${at.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const suffix = before === undefined ? '' : `-before-${toNamePart(before)}`;
  return `aos-${time}${suffix}.tar.gz`;
}

interface Named {
  name: string;
  at: string;
  /** The version whose migration it comes before, as far as a name can hold it; null: another backup. */
  before: string | null;
}

function read(name: string): Named | null {
  const [, year, month, day, hour, minute, second, before = null] = NAME.exec(name) ?? [];
  if (year === undefined) return null;
  return { name, at: `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`, before };
}

/** Newest first. A folder that is not there holds none. */
async function listed(folder: string): Promise<Named[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  return names.flatMap((name) => read(name) ?? []).toSorted((a, b) => (a.name < b.name ? 1 : -1));
}

/**
 * The newest backup in a folder; null: none is there.
 * @param now milliseconds; what is from later does not count: the clock was wrong when it was made
 * @param before only those that come before the migrations of this version
 */
export async function newestBackup(
  folder: string,
  now: number,
  before: string | null = null,
): Promise<BackupNote | null> {
  for (const { name, at, before: version } of await listed(folder)) {
    if (Date.parse(at) > now || (before !== null && version !== toNamePart(before))) continue;
    const path = join(folder, name);
    const stats = await stat(path).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    });
    if (stats?.isFile() === true) return { path, at, bytes: stats.size };
  }
  return null;
}

/**
 * Removes the oldest beyond `keep`, those before migrations counted for themselves, and what killed runs left.
 * @param needed the version whose copies stay, because the store may have to go back to them; null: none
 */
export async function prune(folder: string, keep: number, now: number, needed: string | null = null): Promise<void> {
  const isNeeded = ({ before }: Named): boolean => needed !== null && before === toNamePart(needed);
  const all = (await listed(folder)).filter((one) => !isNeeded(one));
  for (const isCopy of [false, true])
    for (const { name } of all.filter(({ before }) => (before !== null) === isCopy).slice(keep))
      await rm(join(folder, name), { force: true });
  await removeStale(folder, now);
}
