/**
 * The `instance_id` of update checks and the machine that a license binds to (contract 90, SDK: `machineId`). One
 * derivation for the SDK and the agent, so that a rollout sees one machine, not two; products cannot tell each other's
 * apart.
 */
import { createHash } from 'node:crypto';

/**
 * Derives 64 hex digits.
 * @param systemId the system's own id of this machine: `/etc/machine-id`, Windows' `MachineGuid`, or a kept random text
 * where there is neither. White space around the id and letter case do not count.
 */
export const deriveMachineId = (project: string, systemId: string): string =>
  createHash('sha256').update(`${project}\n${systemId.trim().toLowerCase()}`).digest('hex');
