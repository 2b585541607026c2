/** Every query that access, projects and bugs make in use finds a declared index (design, ports: hot look-ups). */
import 'reflect-metadata';
import { expect } from 'chai';
import access from '../../plugins/access/plugin.js';
import { COLLECTIONS } from '../../plugins/bugs/collections.js';
import projects from '../../plugins/projects/plugin.js';
import { unserved, WatchedStore } from '../support/watched.js';
import { Site } from './access/site.js';
import { ensured, errorReport, itemIn, MANAGER, settled, worldOn, type World } from './bugs/world.js';

describe('declared indexes', function () {
  this.timeout(20_000);

  it('serve what access and projects ask', async () => {
    const store = new WatchedStore();
    const site = await Site.open({ store });
    try {
      const bearer = await site.token(['projects:manage', 'projects:read', 'bugtracker:report']);
      const base = '/api/projects/v1/projects';
      await site.api('POST', base, bearer, { slug: 'shop' });
      await site.api('POST', `${base}/shop/intake-keys`, bearer, {});
      for (const path of [base, `${base}/shop`, `${base}/shop/intake-keys`, '/api/tokens/v1/self'])
        expect((await site.api('GET', path, bearer)).status, path).to.equal(200);
      await site.api('POST', '/api/tokens/v1/provision', bearer, { name: 'sub' });
      const browser = await site.signedIn();
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
      await site.parts.projects.byNumber(1);
      await site.api('DELETE', `${base}/shop`, bearer);
      await site.harness.jobs.runNow('access.sweep');
    } finally {
      await site.stop();
    }
    for (const plugin of [access, projects]) {
      const { without, looked } = unserved(store.asked, plugin.id, plugin.collections ?? []);
      expect(without, plugin.id).to.deep.equal([]);
      expect(looked, plugin.id).to.be.greaterThan(3);
    }
  });

  const statuses = ['open', 'in_progress', 'needs_info', 'resolved', 'closed', 'wont_fix', 'duplicate'];

  async function use(world: World): Promise<void> {
    for (const status of statuses) await itemIn(world, status);
    const { id, ref } = await world.bugs.record(errorReport({ client_ref: 'r', file_path: 'a.ts' }));
    await world.bugs.record(errorReport({ client_ref: 's' }));
    await world.bugs.record(errorReport({ muted_by: { rule_id: 'x', reason: 'y' } }));
    await world.leases.next(MANAGER, { agent: 'a' }, { project: 'alpha' });
    await world.discussion.comment(id, MANAGER, 'hi');
    await world.lists.detail(ref, MANAGER);
    for (const sort of ['created_at', 'updated_at', 'last_seen_at', 'severity', 'hit_count'] as const)
      await world.lists.list(MANAGER, { sort, project: ['alpha'], tag: ['x'], q: ['y'] });
    await world.lists.list(MANAGER, { updated_since: '2026-01-01T00:00:00.000Z', status: ['open', 'closed'] });
    await world.lists.projects(MANAGER);
    await Promise.all([world.board.counts(), world.board.attention(5), world.board.perHour(24), world.board.list({})]);
    await world.bugs.unmuteRule('x');
    await settled(world);
    world.clock.advance(31 * 86_400_000);
    await world.bugs.reconcile();
    await world.bugs.sweep();
    await world.bugs.forget();
    await settled(world);
  }

  it('serve what the bug tracker asks', async () => {
    const store = new WatchedStore();
    await ensured(store);
    await use(worldOn(store));
    const { without, looked } = unserved(store.asked, 'bugs', COLLECTIONS);
    expect(without).to.deep.equal([]);
    expect(looked).to.be.greaterThan(50);
  });

  it('are missed when one is not declared', async () => {
    const store = new WatchedStore();
    await ensured(store);
    const world = worldOn(store);
    await world.lists.list(MANAGER, {});
    const bare = COLLECTIONS.map(({ name }) => ({ name, indexes: [] }));
    expect(unserved(store.asked, 'bugs', bare).without.join()).to.include('items.find');
  });
});
