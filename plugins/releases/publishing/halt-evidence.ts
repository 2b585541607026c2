/**
 * From public intake keys (contract 40, staged rollout): a single client with a few addresses must
 * not suffice.
 */
import type { PublicEvidence } from '../../../ports/domain/bugs.js';
import type { ReleaseDeps } from '../deps.js';
import type { ReleaseDoc } from '../model.js';

const HALT_SHARE = 0.01;

export const getHaltThreshold = (all: number): number => Math.ceil(all * HALT_SHARE);

/** @param since RFC 3339, start of the window */
export async function findHaltEvidence(
  { config, health }: Pick<ReleaseDeps, 'config' | 'health'>,
  { product, version, downloads }: Pick<ReleaseDoc, 'product' | 'version' | 'downloads'>,
  since: string,
): Promise<PublicEvidence> {
  const sessions = (await health()?.getSessionsSince(product, version, since))?.started ?? 0;
  const reports = getHaltThreshold(sessions > 0 ? sessions : downloads);
  return { networks: config.halt_addresses, reports };
}
