/**
 * `/etc/<project>` and `/var/lib/<project>` (contract 90, setup.json): root writes only into
 * directories with the agent's marker file.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checkAncestors } from '../system/parent-validator.js';
import { AgentFailure } from '../exit.js';
import { statPath, writeFileAtomically } from '../system/files.js';

export const MARKER_FILE = '.made-by-update-agent';
const DIRECTORY_MODE = 0o755;

const isMarked = async (base: string): Promise<boolean> => {
  const stats = await statPath(join(base, MARKER_FILE));
  return stats?.isFile() === true && stats.uid === 0;
};

/**
 * Runs before anything is written.
 * @throws AgentFailure spaceOrPermission
 */
export async function checkBaseDirectory(base: string): Promise<void> {
  await checkAncestors(base);
  const stats = await statPath(base);
  if (stats === null || (stats.isDirectory() && stats.uid === 0 && (await isMarked(base)))) return;
  throw new AgentFailure(
    'spaceOrPermission',
    `${base} was not created by the agent; nothing was written (if it belongs to the application: touch ${join(base, MARKER_FILE)})`,
  );
}

export async function createBaseDirectory(base: string, project: string): Promise<void> {
  await checkBaseDirectory(base);
  if ((await statPath(base)) !== null) return;
  await mkdir(base, { mode: DIRECTORY_MODE });
  await writeFileAtomically(join(base, MARKER_FILE), `${JSON.stringify({ project })}\n`);
}
