import { invalid } from '../../../kernel/errors.js';
import type { ReleaseDoc } from '../model.js';
import type { ReleaseIndex } from '../update-check/release-index.js';

const MAX_CHANNELS = 100;

/** @param product undefined for all */
export function listChannels(index: Pick<ReleaseIndex, 'listChannels' | 'listProducts'>, product?: string): string[] {
  const products = product === undefined ? index.listProducts() : [product];
  return [...new Set(products.flatMap((one) => index.listChannels(one)))].toSorted().slice(0, MAX_CHANNELS);
}

const USUAL_CHANNELS = ['stable', 'beta'];

/** Channels that a release can be promoted to, the most used first. */
export function listPromotionChannels(
  index: Pick<ReleaseIndex, 'listChannels' | 'listProducts'>,
  { product, channel }: Pick<ReleaseDoc, 'product' | 'channel'>,
): string[] {
  const known = [...USUAL_CHANNELS, ...listChannels(index, product), ...listChannels(index)];
  return [...new Set(known)].filter((name) => name !== channel).slice(0, MAX_CHANNELS);
}

/** @throws ServiceError validation_failed */
export function parsePercent(value: unknown): number {
  const percent = typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : NaN;
  if (!(percent <= 100)) throw invalid({ rollout_percent: 'must be a whole number from 0 to 100' });
  return percent;
}
