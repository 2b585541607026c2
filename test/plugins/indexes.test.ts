/**
 * Every query that access, projects and bugs make in use finds a declared index (design, ports: hot
 * look-ups).
 */
import 'reflect-metadata';
import { expect } from 'chai';
import access from '../../plugins/access/plugin.js';
import { COLLECTIONS } from '../../plugins/bugs/collections.js';
import projects from '../../plugins/projects/plugin.js';
import { listUncoveredQueries, WatchedStore } from '../support/watched-store.js';
import { HttpFixture } from './access/http-fixture.js';
import { ensureCollections, errorReport, itemIn, MANAGER, settled, fixtureOn, type Fixture } from './bugs/fixture.js';

describe('declared indexes', function () {
  it('cover the queries of access and projects', async () => {
    const store = new WatchedStore();
    const http = await HttpFixture.open({ store });
    try {
      const bearer = await http.token(['projects:manage', 'projects:read', 'bugtracker:report']);
      const base = '/api/projects/v1/projects';
      await http.api('POST', base, bearer, { slug: 'shop' });
      await http.api('POST', `${base}/shop/intake-keys`, bearer, {});
      for (const path of [base, `${base}/shop`, `${base}/shop/intake-keys`, '/api/tokens/v1/self'])
        expect((await http.api('GET', path, bearer)).status, path).to.equal(200);
      await http.api('POST', '/api/tokens/v1/provision', bearer, { name: 'sub' });
      const browser = await http.signedIn();
      for (const path of [
        '/account',
        '/admin/users',
        '/admin/tokens',
        '/admin/projects',
        '/projects',
        '/users',
        '/tokens',
      ])
        await browser.get(path);
      await http.parts.projects.findByNumber(1);
      await http.api('DELETE', `${base}/shop`, bearer);
      await http.harness.jobs.runNow('access.sweep');
    } finally {
      await http.stop();
    }
    for (const plugin of [access, projects]) {
      const { without, looked } = listUncoveredQueries(store.asked, plugin.id, plugin.collections ?? []);
      expect(without, plugin.id).to.deep.equal([]);
      expect(looked, plugin.id).to.be.greaterThan(3);
    }
  });

  const statuses = ['open', 'in_progress', 'needs_info', 'resolved', 'closed', 'wont_fix', 'duplicate'];

  async function use(fixture: Fixture): Promise<void> {
    for (const status of statuses) await itemIn(fixture, status);
    const { id, ref } = await fixture.bugs.record(errorReport({ client_ref: 'r', file_path: 'a.ts' }));
    await fixture.bugs.record(errorReport({ client_ref: 's' }));
    await fixture.bugs.record(errorReport({ muted_by: { rule_id: 'x', reason: 'y' } }));
    await fixture.nextItem.reserveNext(MANAGER, { agent: 'a' }, { project: 'alpha' });
    await fixture.comments.add(id, MANAGER, { body: 'hi' });
    await fixture.lists.getDetail(ref, MANAGER);
    for (const sort of ['created_at', 'updated_at', 'last_seen_at', 'severity', 'hit_count'] as const)
      await fixture.lists.list(MANAGER, { sort, project: ['alpha'], tag: ['x'], q: ['y'] });
    await fixture.lists.list(MANAGER, { updated_since: '2026-01-01T00:00:00.000Z', status: ['open', 'closed'] });
    await fixture.lists.listProjects(MANAGER);
    await Promise.all([
      fixture.board.getWaitingCounts(),
      fixture.board.getAttention(5),
      fixture.board.getTraffic({ project: null, until: fixture.clock.now(), hours: 24 }),
      fixture.board.getTraffic({ project: 'alpha', until: fixture.clock.now(), hours: 24 }),
      fixture.board.list({}),
    ]);
    await fixture.bugs.unmuteByRule('x');
    await settled(fixture);
    fixture.clock.advance(31 * 86_400_000);
    await fixture.jobs.reconcile();
    await fixture.jobs.sweep();
    await fixture.jobs.deleteExpired();
    await fixture.traffic.deleteExpired();
    await settled(fixture);
  }

  it('cover the queries of the bug tracker', async () => {
    const store = new WatchedStore();
    await ensureCollections(store);
    await use(fixtureOn(store));
    const { without, looked } = listUncoveredQueries(store.asked, 'bugs', COLLECTIONS);
    expect(without).to.deep.equal([]);
    expect(looked).to.be.greaterThan(50);
  });

  it('are reported when missing', async () => {
    const store = new WatchedStore();
    await ensureCollections(store);
    const fixture = fixtureOn(store);
    await fixture.lists.list(MANAGER, {});
    const bare = COLLECTIONS.map(({ name }) => ({ name, indexes: [] }));
    expect(listUncoveredQueries(store.asked, 'bugs', bare).without.join()).to.include('items.find');
  });
});
