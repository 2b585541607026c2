/** The name by which the service knows the machine of an installation. */
import { randomUUID } from 'node:crypto';
import { readSystemId } from '../../../lib/formats/machine.js';

/** The text that names this machine: the system's, else the one kept before, else a random one that has to be kept. */
export async function machineInstance(before: string | null): Promise<{ id: string; kept: string | null }> {
  const known = (await readSystemId()) ?? before;
  if (known !== null) return { id: known, kept: null };
  const id = randomUUID();
  return { id, kept: id };
}
