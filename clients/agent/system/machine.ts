import { randomUUID } from 'node:crypto';
import { readSystemId } from '../../../lib/formats/machine.js';

/** The system's, else the stored one, else a random one to store. */
export async function resolveMachineInstance(before: string | null): Promise<{ id: string; kept: string | null }> {
  const known = (await readSystemId()) ?? before;
  if (known !== null) return { id: known, kept: null };
  const id = randomUUID();
  return { id, kept: id };
}
