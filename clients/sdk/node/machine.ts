/** Identifies the machine like the update agent does (contract 90, SDK: `machineId`). */
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deriveMachineId } from '../../../lib/formats/machine-id.js';
import { isInContainer, readSystemId } from '../../../lib/formats/machine.js';
import type { MachineIdentity } from '../host.js';
import { removeFile } from './files.js';

/** Sources of the identity. */
export interface MachineSources {
  systemId: () => Promise<string | null>;
  isInContainer: () => Promise<boolean>;
}

const createSources = (): MachineSources => ({
  systemId: readSystemId,
  isInContainer: () => isInContainer(process.env),
});

/**
 * Returns 64 hex digits derived from the system's id, else from a stored random text, which is not
 * stable in containers.
 */
export async function identifyMachine(
  project: string,
  folder: string,
  sources: MachineSources = createSources(),
): Promise<MachineIdentity> {
  const known = await sources.systemId();
  if (known !== null) return { id: deriveMachineId(project, known), isStable: true };
  const { text, isNew } = await getStoredId(folder);
  return { id: deriveMachineId(project, text), isStable: !isNew && !(await sources.isInContainer()) };
}

/**
 * Creates the file by a link, which fails if the name exists, so that concurrent starts agree on
 * one text.
 */
export async function getStoredId(folder: string): Promise<{ text: string; isNew: boolean }> {
  const path = join(folder, 'machine-id');
  const fresh = randomUUID();
  const temporary = `${path}.${fresh}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(temporary, fresh, { mode: 0o600 });
    await link(temporary, path);
    return { text: fresh, isNew: true };
  } catch {
    const text = (await readFile(path, 'utf8').catch(() => '')).trim();
    return text === '' ? { text: fresh, isNew: true } : { text, isNew: false };
  } finally {
    removeFile(temporary);
  }
}
