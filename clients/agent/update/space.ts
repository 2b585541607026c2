/** Checks free disk space before anything is downloaded (contract 90, update: space; exit 9). */
import { open, rm, statfs } from 'node:fs/promises';
import { randomFillSync } from 'node:crypto';
import { AgentFailure } from '../exit.js';
import type { InstallationLayout } from '../layout.js';

export const RESERVE_BYTES = 1024 * 1024;
const FILE_OVERHEAD_BYTES = 4096;

/** @param bytes of everything still to be written, in `files` files */
export async function checkSpace(root: string, bytes: number, files: number): Promise<void> {
  const { bavail, bsize } = await statfs(root);
  const free = bavail * bsize;
  const needed = bytes + files * FILE_OVERHEAD_BYTES + RESERVE_BYTES;
  if (needed > free)
    throw new AgentFailure(
      'spaceOrPermission',
      `${root} has ${formatMebibytes(free)} MiB free, and the update needs ${formatMebibytes(needed)} MiB`,
    );
}

const formatMebibytes = (bytes: number): string => (bytes / (1024 * 1024)).toFixed(1);

/** Random bytes resist compression by the file system. */
export async function reserveSpace(layout: InstallationLayout): Promise<void> {
  await rm(layout.reserve, { force: true });
  const file = await open(layout.reserve, 'wx', 0o600);
  try {
    await file.writeFile(randomFillSync(Buffer.alloc(RESERVE_BYTES)));
    await file.sync();
  } finally {
    await file.close();
  }
}
