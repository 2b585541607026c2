/**
 * `/etc/<project>` and `/var/lib/<project>` (contract 90, setup.json): root writes only into
 * directories with the agent's marker file.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checkAncestors } from '../system/parents.js';
import { AgentFailure } from '../exit.js';
import { look, writeWhole } from '../system/files.js';

export const MARKER = '.made-by-update-agent';
const MODE = 0o755;

const isMarked = async (base: string): Promise<boolean> => {
  const stats = await look(join(base, MARKER));
  return stats?.isFile() === true && stats.uid === 0;
};

/**
 * Runs before anything is written.
 * @throws AgentFailure spaceOrPermission
 */
export async function checkOwnBase(base: string): Promise<void> {
  await checkAncestors(base);
  const stats = await look(base);
  if (stats === null || (stats.isDirectory() && stats.uid === 0 && (await isMarked(base)))) return;
  throw new AgentFailure(
    'spaceOrPermission',
    `${base} was not made by the agent; nothing was written (where it is the application’s: touch ${join(base, MARKER)})`,
  );
}

export async function makeOwnBase(base: string, project: string): Promise<void> {
  await checkOwnBase(base);
  if ((await look(base)) !== null) return;
  await mkdir(base, { mode: MODE });
  await writeWhole(join(base, MARKER), `${JSON.stringify({ project })}\n`);
}
