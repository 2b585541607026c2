/**
 * Machine id of update checks and licenses (contract 90, SDK: `machineId`); ids of different
 * products cannot be linked.
 */
import { createHash } from 'node:crypto';

/**
 * Derives 64 hex digits.
 * @param systemId `/etc/machine-id`, Windows' `MachineGuid`, or a stored random text
 */
export const deriveMachineId = (project: string, systemId: string): string =>
  createHash('sha256').update(`${project}\n${systemId.trim().toLowerCase()}`).digest('hex');
