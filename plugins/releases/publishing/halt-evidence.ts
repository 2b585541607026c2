/**
 * How strong the evidence of intake keys, which are public, must be to stop a rollout (contract 40, staged rollout):
 * `releases.halt_addresses` networks, and one percent of the sessions of the version in the window, or of its downloads
 * where nobody reports sessions. One stranger with a few addresses is neither.
 */
import type { PublicEvidence } from '../../../ports/domain/bugs.js';
import type { ReleaseDeps } from '../deps.js';
import type { ReleaseDoc } from '../model.js';

const SHARE = 0.01;

/** So many of these are one percent. */
export const getHaltThreshold = (all: number): number => Math.ceil(all * SHARE);

/** @param since RFC 3339: of the window that the rollout is judged by */
export async function findHaltEvidence(
  { config, health }: Pick<ReleaseDeps, 'config' | 'health'>,
  { product, version, downloads }: Pick<ReleaseDoc, 'product' | 'version' | 'downloads'>,
  since: string,
): Promise<PublicEvidence> {
  const sessions = (await health()?.since(product, version, since))?.started ?? 0;
  const reports = getHaltThreshold(sessions > 0 ? sessions : downloads);
  return { networks: config.halt_addresses, reports };
}
