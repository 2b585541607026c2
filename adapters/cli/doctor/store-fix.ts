import type { ResolvedConfig } from '../../../config/load.js';

export const MISSING_STORE_FIX =
  'set SVC_DATA_DIR to the data directory of the installation, or start the service to create one here';
const CONNECTION_FIX = 'check storage.url, and that the database is reachable';

export async function describeStoreFix(
  error: unknown,
  { storage, data_dir }: ResolvedConfig,
  newest: () => Promise<string | null>,
): Promise<string> {
  const { file } = storage;
  if (file === null) return CONNECTION_FIX;
  const errorMessage = error instanceof Error ? error.message : String(error);
  if (/no space|ENOSPC|\bfull\b|no room/i.test(errorMessage)) return `free some space on the disk of ${file}`;
  if (/read-only|EROFS/i.test(errorMessage))
    return `the disk of ${file} is not writable: check the kernel log for the cause, remount it writable, and start the service`;
  if (/EACCES|EPERM|cannot open its file|cannot be opened/.test(errorMessage))
    return `make the user that runs the service the owner of ${file}, its -wal and -shm files, and their folder (chown)`;
  const damaged = /damaged|malformed/.test(errorMessage);
  if (!damaged && !errorMessage.includes('not a database')) return CONNECTION_FIX;
  const backup = await newest();
  const restored =
    backup === null
      ? 'restore your own backup: the service has not created one'
      : `run: aos restore ${backup} (requires an empty data directory)`;
  return damaged
    ? `stop the service, move ${data_dir} aside and keep it, and ${restored}`
    : `set storage.url to the right file; or move ${data_dir} aside, and ${restored}`;
}

export async function describeDamageFix(core: ResolvedConfig, newest: () => Promise<string | null>): Promise<string> {
  const whole = await describeStoreFix(new Error('damaged'), core, newest);
  return `the listed data cannot be read until it is replaced or removed; everything else works. To recover it, ${whole}`;
}

export function describeReleaseFix(error: unknown, { data_dir }: ResolvedConfig): string {
  const errorMessage = error instanceof Error ? error.message : String(error);
  if (/EROFS|read-only/.test(errorMessage))
    return 'check the kernel log for why its disk is read-only, and remount it writable; no restart is needed';
  if (errorMessage.includes('are free'))
    return 'free some space on its disk, or set releases.path to a folder on a larger one';
  return `make the user that runs the service the owner of it and its content: chown -R --reference=${data_dir}`;
}
