/** The dashboard's card: how far the newest release has come on the machines (contract 80). */
import { View, type PanelSpec } from '../../../kernel/contract.js';
import type { Services } from '../services.js';
import { sharesOf } from './shown.js';

export function panels({ deps, docs }: Services): PanelSpec[] {
  return [
    {
      id: 'releases.adoption',
      kind: 'trend',
      order: 30,
      load: async () => {
        const watchdog = deps.watchdog();
        const newest = await docs.newest();
        if (watchdog === undefined || newest === null) return null;
        const parts = sharesOf(await watchdog.adoption(newest.product), newest.version);
        if (parts.length === 0) return null;
        const { id, product, version, published_at } = newest;
        return new View('panel-adoption', { href: `/releases/${id}`, product, version, published_at, parts });
      },
    },
  ];
}
