/** Decides which machines a staged rollout reaches (contract 40, staged rollout). */
import { createHash } from 'node:crypto';

const BUCKET_COUNT = 0x1_0000_0000;

/** 0 ≤ x < 100, stable across requests. */
export function getRolloutPosition(instance: string, releaseId: string): number {
  const digest = createHash('sha256').update(`${releaseId}\u001f${instance}`).digest();
  return (digest.readUInt32BE(0) / BUCKET_COUNT) * 100;
}

/** Raising `percent` only adds machines. A machine without an id is not selected below 100. */
export function isInRollout(percent: number, instance: string | null, releaseId: string): boolean {
  if (percent >= 100) return true;
  return instance !== null && percent > 0 && getRolloutPosition(instance, releaseId) < percent;
}
