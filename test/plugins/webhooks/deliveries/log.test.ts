/** What the delivery log answers without a walk over what waits. */
import { expect } from 'chai';
import { createDelivery } from '../../../../plugins/webhooks/model/delivery.js';
import type { StoredEvent } from '../../../../plugins/webhooks/model/stored-event.js';
import plugin from '../../../../plugins/webhooks/plugin.js';
import { listUncoveredQueries, WatchedStore } from '../../../support/watched-store.js';
import { ADMIN, ensureCollections, fixtureOn } from '../fixture.js';

describe('webhook delivery log', () => {
  it('finds the last attempt by time behind many held deliveries that were never attempted', async () => {
    const store = new WatchedStore();
    const fixture = fixtureOn(await ensureCollections(store));
    try {
      const { deliveries, clock, ids } = fixture.deps;
      const put = (more: object): Promise<void> => {
        const event = { id: `evt_${ids.uuid()}`, event: 'bug.created', project_slug: null, timestamp: clock.iso() };
        const { next_at: _due, ...made } = createDelivery('hook', event as StoredEvent, clock.iso());
        return deliveries.insert({ ...made, state: 'held', ...more });
      };
      await put({ state: 'exhausted', attempted_at: '2026-01-01T00:00:02.000Z', made: 2 });
      await put({ state: 'success', attempted_at: '2026-01-01T00:00:01.000Z', made: 1 });
      for (let i = 0; i < 20; i++) await put({});
      store.asked.length = 0;
      expect(await fixture.log.findLastAttempted(ADMIN, 'hook')).to.include({ state: 'exhausted', made: 2 });
      expect(await fixture.log.findLastAttempted(ADMIN, 'another')).to.equal(null);
      const requested = store.asked.filter(({ collection }) => collection === 'webhooks_deliveries');
      expect(requested.map(({ sort }) => sort)).to.deep.equal([[['attempted_at', 'desc']], [['attempted_at', 'desc']]]);
      expect(listUncoveredQueries(requested, 'webhooks', plugin.collections ?? []).without).to.deep.equal([]);
    } finally {
      await fixture.close();
    }
  });
});
