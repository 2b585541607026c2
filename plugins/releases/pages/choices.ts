/** What the forms of releases choose from and give: channels, and a share of the machines. */
import { invalid } from '../../../kernel/errors.js';
import type { ReleaseIndex } from '../asking/release-index.js';

const MOST = 100;

/** By name. @param product undefined: of all products */
export function listChannels(index: Pick<ReleaseIndex, 'channelsOf' | 'products'>, product?: string): string[] {
  const products = product === undefined ? index.products() : [product];
  return [...new Set(products.flatMap((one) => index.channelsOf(one)))].toSorted().slice(0, MOST);
}

/** A share of machines as a form gives it. @throws ServiceError validation_failed */
export function parsePercent(value: unknown): number {
  const percent = typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : NaN;
  if (!(percent <= 100)) throw invalid({ rollout_percent: 'must be a whole number from 0 to 100' });
  return percent;
}
