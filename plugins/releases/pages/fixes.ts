import type { VersionItem } from '../../../ports/domain/bugs.js';
import type { ReleaseDeps } from '../deps.js';
import type { ReleaseDoc } from '../model.js';

const MAX_SHOWN_FIXES = 50;

export interface ShownFixes {
  items: VersionItem[];
  total: number;
  more: number;
}

/** Issues with this fix version, and those that its publish closed. */
export async function listShownFixes(
  { fixes }: Pick<ReleaseDeps, 'fixes'>,
  { product, version }: Pick<ReleaseDoc, 'product' | 'version'>,
): Promise<ShownFixes | undefined> {
  const found = await fixes()?.list(product, version, MAX_SHOWN_FIXES);
  return found && { ...found, more: found.total - found.items.length };
}
