/** Home: an unprotected release store, and running rollouts (contract 80). */
import { View, type PanelSpec } from '../../../kernel/contract/index.js';
import type { SelfTestResult } from '../access-files/self-test-result.js';
import type { ReleaseServices } from '../services.js';
import { listRolloutRows } from './rollout-rows.js';

/** A finished rollout is shown for so long. */
const FINISHED_DAYS = 14;

export function releasePanels(
  services: ReleaseServices,
  selfTest: () => Promise<SelfTestResult | undefined>,
): PanelSpec[] {
  const { deps } = services;
  return [
    {
      id: 'releases.open',
      kind: 'attention',
      order: 2,
      load: async (_session, project) => {
        const last = await selfTest();
        if (last?.protection !== 'open') return null;
        const open = last.products.filter(
          ({ protection, product }) => protection === 'open' && (!project || product === project),
        );
        if (open.length === 0) return null;
        const names = new Map((await deps.projects.list()).map(({ slug, name }) => [slug, name]));
        const products = open.map(({ product }) => names.get(product) ?? product).join(', ');
        return new View('panel-open', { products, at: last.at });
      },
    },
    {
      id: 'releases.rollouts',
      kind: 'side',
      order: 10,
      load: async (session, project) => {
        const items = await listRolloutRows(services, project ?? null, FINISHED_DAYS);
        if (items.length === 0) return null;
        const href = project ? `/releases?product=${encodeURIComponent(project)}` : '/releases';
        return new View('panel-rollouts', { items, href, admin: session.role === 'admin' });
      },
    },
  ];
}
