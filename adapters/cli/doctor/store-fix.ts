import type { ResolvedConfig } from '../../../config/load.js';
import { NoStore } from '../../../config/compose/compose.js';

const CONNECTION_FIX = 'check storage.url, and that the database answers';

export async function describeStoreFix(
  error: unknown,
  { storage, data_dir }: ResolvedConfig,
  newest: () => Promise<string | null>,
): Promise<string> {
  const { file } = storage;
  if (file === null) return CONNECTION_FIX;
  if (error instanceof NoStore)
    return 'set SVC_DATA_DIR to the data directory of the installation, or start the service, which creates one here';
  const errorMessage = error instanceof Error ? error.message : String(error);
  if (/no space|ENOSPC|\bfull\b|no room/i.test(errorMessage)) return `free some space on the disk of ${file}`;
  if (/read-only|EROFS/i.test(errorMessage))
    return `the disk of ${file} takes no writes: see the kernel's log for why, mount it writable again, and start the service`;
  if (/EACCES|EPERM|may not open|cannot be opened/.test(errorMessage))
    return `give ${file}, with its -wal and -shm beside it, and its folder to the user that runs the service (chown)`;
  const damaged = /damaged|malformed/.test(errorMessage);
  if (!damaged && !errorMessage.includes('not a database')) return CONNECTION_FIX;
  const backup = await newest();
  const restored =
    backup === null
      ? 'restore a backup of your own: the service has made none'
      : `run: aos restore ${backup} (it wants an empty data directory)`;
  return damaged
    ? `stop the service, move ${data_dir} aside and keep it, and ${restored}`
    : `set storage.url to the right file; or move ${data_dir} aside, and ${restored}`;
}

export async function describeDamageFix(core: ResolvedConfig, newest: () => Promise<string | null>): Promise<string> {
  const whole = await describeStoreFix(new Error('damaged'), core, newest);
  return `what is named cannot be read until it is replaced or removed, all else is served; to have it back, ${whole}`;
}

export function describeReleaseFix(error: unknown, { data_dir }: ResolvedConfig): string {
  const errorMessage = error instanceof Error ? error.message : String(error);
  if (/EROFS|read-only/.test(errorMessage))
    return 'see the log of the kernel for why its disk is read-only, and mount it writable again; nothing has to be restarted';
  if (errorMessage.includes('are free'))
    return 'free some space on its disk, or set releases.path to a folder on a larger one';
  return `give it, with all that is in it, to the user that runs the service: chown -R --reference=${data_dir}`;
}
