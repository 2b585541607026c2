/** What the SDK knows of the machine it runs on: the same as the update agent (contract 90, SDK: `machineId`). */
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { machineIdOf } from '../../../formats/machine-id.js';
import { systemId } from '../../../formats/machine.js';
import { removeFile } from './files.js';

/**
 * 64 hex digits: derived from what the system calls this machine, else from a random text that is kept in the folder.
 */
export const machineIdFor = async (project: string, folder: string): Promise<string> =>
  machineIdOf(project, (await systemId()) ?? (await keptId(folder)));

/** By a link, which fails where the name exists, so that processes that start together agree on one text. */
export async function keptId(folder: string): Promise<string> {
  const path = join(folder, 'machine-id');
  const fresh = randomUUID();
  const temporary = `${path}.${fresh}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(temporary, fresh, { mode: 0o600 });
    await link(temporary, path);
    return fresh;
  } catch {
    return (await readFile(path, 'utf8').catch(() => '')).trim() || fresh;
  } finally {
    removeFile(temporary);
  }
}
