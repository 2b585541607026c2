/** Dashboard cards: an unprotected store, and adoption of the newest release (contract 80). */
import { View, type PanelSpec } from '../../../kernel/contract/index.js';
import type { SelfTestResult } from '../access-files/self-test-result.js';
import type { ReleaseServices } from '../services.js';
import { toAdoptionShares } from './release-display.js';

export function releasePanels(
  { deps, docs }: ReleaseServices,
  selfTest: () => Promise<SelfTestResult | undefined>,
): PanelSpec[] {
  return [
    {
      id: 'releases.open',
      kind: 'attention',
      order: 40,
      load: async () => {
        const last = await selfTest();
        if (last?.protection !== 'open') return null;
        const open = last.products.filter(({ protection }) => protection === 'open');
        const names = new Map((await deps.projects.list()).map(({ slug, name }) => [slug, name]));
        const products = open.map(({ product }) => names.get(product) ?? product).join(', ');
        return new View('panel-open', { products, at: last.at });
      },
    },
    {
      id: 'releases.adoption',
      kind: 'trend',
      order: 30,
      load: async () => {
        const watchdog = deps.watchdog();
        const newest = await docs.getNewest();
        if (watchdog === undefined || newest === null) return null;
        const parts = toAdoptionShares(await watchdog.listVersionAdoption(newest.product), newest.version);
        if (parts.length === 0) return null;
        const { id, product, version, published_at } = newest;
        return new View('panel-adoption', { href: `/releases/${id}`, product, version, published_at, parts });
      },
    },
  ];
}
