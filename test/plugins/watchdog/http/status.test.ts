/**
 * `/status` from a shared snapshot, in pages, and what a token of one project is shown (contract
 * 30, endpoints; contract 10, tokens).
 */
import { expect } from 'chai';
import dashboard from '../../../../plugins/dashboard/plugin.js';
import { createMonitor } from '../../../../plugins/watchdog/model/monitor-view.js';
import type { MonitorDoc } from '../../../../plugins/watchdog/model/documents.js';
import watchdog from '../../../../plugins/watchdog/plugin.js';
import { ids, SHARED_KEY } from '../../access/fixture.js';
import { HttpFixture, type Answer } from '../../access/http-fixture.js';

const BASE = '/api/watchdog/v1';

type Shown = Record<string, unknown> & { source: string };

describe('watchdog status', function () {
  let fixture: HttpFixture;
  let read: string;

  beforeEach(async () => {
    fixture = await HttpFixture.open({ plugins: [dashboard, watchdog] });
    read = await fixture.token(['watchdog:read']);
  });
  afterEach(() => fixture.stop());

  const get = (path: string, token = read): Promise<Answer> => fixture.api('GET', `${BASE}${path}`, token);
  const sources = (answer: Answer, list = 'monitors'): string[] =>
    (answer.json[list] as Shown[]).map(({ source }) => source);
  const fill = async (count: number, of: (i: number) => Partial<MonitorDoc> = () => ({})): Promise<void> => {
    const monitors = fixture.harness.store.collection<MonitorDoc>('watchdog_monitors');
    const now = fixture.clock.now();
    for (let i = 0; i < count; i += 500) {
      const part = Array.from({ length: Math.min(500, count - i) }, (_, n) => {
        const source = `host-${String(i + n).padStart(6, '0')}`;
        return { insert: { ...createMonitor({ source }, ids, now), ...of(i + n) } };
      });
      await monitors.bulk(part);
    }
  };
  const rejected = (answer: Answer): string => `${answer.status} ${answer.json.error?.code}`;

  it('returns up to 5,000 monitors, sorted by source when truncated, with the counts of all', async () => {
    await fill(5_000, (i) => ({ state: i % 2 === 0 ? 'up' : 'down' }));
    const whole = await get('/status');
    expect(whole.json).to.have.all.keys('status', 'generated_at', 'stale', 'counts', 'monitors');
    expect(sources(whole)).to.have.length(5_000);
    const ping = await fixture.token(['watchdog:ping']);
    await fixture.api('POST', `${BASE}/ping`, ping, { source: 'zz' });
    // A large snapshot may be 2 s old.
    fixture.clock.forward(2_001);
    const cut = await get('/status');
    expect(cut.json).to.include({ truncated: true });
    expect(cut.json['counts']).to.include({ up: 2_501, down: 2_500 });
    expect(sources(cut)).to.deep.equal(sources(whole));
    const rest = await get(`/status?cursor=${cut.json['next_cursor'] as string}`);
    expect(rest.json).to.include({ has_more: false, next_cursor: null }).and.not.have.property('truncated');
    expect(sources(rest)).to.deep.equal(['zz']);
  });

  it('pages by limit and cursor', async () => {
    await fill(25);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await get(`/status?limit=10${cursor}`);
      expect(page.json['counts']).to.include({ unknown: 25 });
      seen.push(...sources(page));
      const next = page.json['next_cursor'] as string | null;
      cursor = next === null ? '' : `&cursor=${next}`;
    } while (cursor !== '');
    expect(seen).to.deep.equal(sources(await get('/status')));
    for (const bad of ['limit=0', 'limit=201', 'limit=x', 'nope=1']) {
      expect(rejected(await get(`/status?${bad}`)), bad).to.equal('400 invalid_request');
    }
    for (const bad of ['x', 'aG9zdA', '%00']) {
      expect(rejected(await get(`/status?cursor=${bad}`)), bad).to.equal('400 invalid_cursor');
    }
  });

  it('returns the same daily uptime with `uptime` as the monitor, its CSV, page and badge', async () => {
    const ping = await fixture.token(['watchdog:ping']);
    const manage = await fixture.token(['watchdog:manage']);
    const beat = (source: string) => fixture.api('POST', `${BASE}/ping`, ping, { source, interval: 1 });
    for (const source of ['web-1', 'web-2']) await beat(source);
    await fixture.api('PATCH', `${BASE}/monitors/web-1`, manage, { public: true });
    fixture.clock.forward(60_000);
    await fixture.api('POST', `${BASE}/evaluate`, SHARED_KEY);
    fixture.clock.forward(30_000);
    await beat('web-1');
    const answer = await get('/status?uptime=2&source=web-1');
    const [shown] = answer.json['monitors'] as (Shown & {
      uptime: { share: number; days: Record<string, string | number | null>[] };
    })[];
    const { source, share, days } = (await get('/monitors/web-1/uptime?days=2')).json;
    expect({ source, share, days }).to.deep.equal({ source: 'web-1', ...shown?.uptime });
    expect(shown?.uptime.days.map((day) => Object.keys(day).join())).to.deep.equal(
      Array<string>(2).fill('day,up_seconds,warning_seconds,down_seconds,share'),
    );
    expect(shown?.uptime.share).to.be.closeTo(2 / 3, 1e-9);
    const csv = (await get('/monitors/web-1/uptime.csv?days=2')).text.trim().split('\r\n').slice(1);
    const rows = shown?.uptime.days.map((day) =>
      Object.values(day)
        .map((one) => (one === null ? '' : `"${one}"`))
        .join(),
    );
    expect(csv).to.deep.equal(rows);
    const percent = `${Math.floor((shown?.uptime.share ?? 0) * 10_000) / 100}%`;
    expect((await (await fixture.signedIn()).get('/monitors/web-1')).text).to.include(percent);
    expect((await fixture.api('GET', `/badge/${shown?.['id'] as string}.svg?uptime=2`, null)).text).to.include(percent);

    expect((await get('/status')).text).not.to.include('up_seconds');
    for (const bad of ['0', '401', '1.5', 'x']) {
      const refusal = await get(`/status?uptime=${bad}`);
      expect(rejected(refusal), bad).to.equal('400 invalid_request');
      expect(refusal.json.error?.fields, bad).to.have.keys('uptime');
    }
    await fill(800);
    fixture.clock.forward(2_001);
    const tooMany = await get('/status?uptime=100');
    expect(rejected(tooMany)).to.equal('400 invalid_request');
    expect(tooMany.json.error?.fields?.['uptime']).to.include('100 days of 802 monitors');
    expect((await get('/status?uptime=100&limit=200')).status).to.equal(200);
    const own = (await fixture.api('GET', `${BASE}/status?uptime=400`, ping)).status;
    expect(own, 'a token without watchdog:read').to.equal(403);
  });

  it('limits the tree to its upper levels, and returns the number of omitted monitors', async () => {
    await fill(6_000, (i) => ({
      parent_source: i === 0 ? null : `host-${String(i % 2 === 1 ? 0 : i - 1).padStart(6, '0')}`,
    }));
    const answer = await get('/status?tree=1&limit=1');
    expect(answer.json['tree_left_out']).to.equal(1_000);
    const [root] = answer.json['tree'] as { source: string; children: { children: object[] }[] }[];
    expect(root?.source).to.equal('host-000000');
    expect(root?.children).to.have.length(3_000);
    expect(root?.children.filter(({ children }) => children.length > 0)).to.have.length(1_999);
  });

  it('shows a caller’s heartbeat immediately in a small store', async () => {
    const ping = await fixture.token(['watchdog:ping']);
    for (let i = 0; i < 5; i++) {
      await fixture.api('POST', `${BASE}/ping`, ping, { source: `own-${i}`, metrics: { n: i } });
      const answer = await get('/status');
      expect(answer.json['monitors']).to.have.length(i + 1);
      // What it is asked for by the plugin `probes` stands on the monitor itself alone.
      const { probe, ...single } = (await get(`/monitors/own-${i}`)).json['monitor'] as Shown;
      expect(probe).to.equal(null);
      expect((answer.json['monitors'] as Shown[])[i]).to.deep.equal(single);
    }
  });

  it('rejects heartbeats beyond the token’s monitor limit, and accepts those of existing monitors', async () => {
    await fixture.stop();
    fixture = await HttpFixture.open({ plugins: [watchdog], limits: { monitors_per_token: 2 } });
    const ping = await fixture.token(['watchdog:ping']);
    const manage = await fixture.token(['watchdog:manage']);
    const beat = (source: string, token = ping): Promise<Answer> =>
      fixture.api('POST', `${BASE}/ping`, token, { source });
    expect((await beat('a')).status).to.equal(201);
    expect((await beat('b')).status).to.equal(201);
    const third = await beat('c');
    expect(rejected(third)).to.equal('422 validation_failed');
    expect(third.json.error?.fields?.['source']).to.include('limits.monitors_per_token');
    expect((await beat('a')).status).to.equal(200);
    expect((await beat('c', await fixture.token(['watchdog:ping']))).status, 'another token').to.equal(201);
    expect((await fixture.api('POST', `${BASE}/monitors`, manage, { source: 'd' })).status).to.equal(201);
    expect((await beat('d')).status, 'made by hand').to.equal(200);
    await fixture.api('DELETE', `${BASE}/monitors/a`, manage);
    fixture.clock.forward(1_001);
    expect((await beat('e')).status, 'one of its monitors was deleted').to.equal(201);
    const many = await Promise.all(['f', 'g', 'h'].map((source) => beat(source)));
    expect(many.map(({ status }) => status)).to.deep.equal([422, 422, 422]);
    const sub = await fixture.api('POST', '/api/tokens/v1/provision', ping, { name: 'sub' });
    expect((await beat('i', sub.json['token'] as string)).status, 'a sub-token shares the limit').to.equal(422);
  });

  describe('for a project token', () => {
    let shop: string;

    beforeEach(async () => {
      const admin = await fixture.token(['projects:manage', 'watchdog:manage']);
      for (const slug of ['shop', 'blog']) await fixture.api('POST', '/api/projects/v1/projects', admin, { slug });
      const make = (source: string, project: string, parent_source: string | null): Promise<Answer> =>
        fixture.api('POST', `${BASE}/monitors`, admin, { source, project, parent_source });
      await make('secret-parent', 'blog', null);
      await make('shop-top', 'shop', 'secret-parent');
      await make('shop-child', 'shop', 'shop-top');
      await make('orphan', 'shop', 'no-such-monitor');
      const ping = await fixture.token(['watchdog:ping']);
      for (const source of ['secret-parent', 'shop-top', 'shop-child']) {
        await fixture.api('POST', `${BASE}/ping`, ping, { source, interval: 1 });
      }
      fixture.clock.forward(60_000);
      await fixture.api('POST', `${BASE}/evaluate`, SHARED_KEY);
      shop = await fixture.token(['watchdog:manage', 'watchdog:ping'], 'shop');
    });

    it('returns no monitor of another project in any read', async () => {
      for (const path of [
        '/runs',
        '/events',
        '/events?source=shop-top',
        '/events?source=secret-parent',
        '/status?tree=1',
        '/status?parent=secret-parent',
        '/status?source=secret-parent',
        '/monitors',
        '/monitors/shop-top',
        '/monitors/shop-child',
        '/metrics?source=shop-top',
      ]) {
        const answer = await get(path, shop);
        expect(answer.status, path).to.equal(200);
        expect(answer.text, path).to.not.include('secret-parent');
      }
      const runs = (await get('/runs', shop)).json['items'] as { changes: Shown[]; to_down: number }[];
      expect(runs[0]?.changes.map(({ source, suppressed_by }) => [source, suppressed_by])).to.have.deep.members([
        ['shop-top', null],
        ['shop-child', 'shop-top'],
      ]);
      expect((await get('/runs')).text).to.include('secret-parent');
      const own = (await get('/monitors/shop-child', shop)).json['monitor'];
      expect(own).to.include({ parent_source: 'shop-top', suppressed_by: 'shop-top', alarm: 'suppressed' });
      expect((await get('/monitors/orphan', shop)).json['monitor']).to.include({ parent_source: 'no-such-monitor' });
    });

    it('rejects other projects', async () => {
      for (const path of ['/monitors/secret-parent', '/metrics?source=secret-parent'])
        expect(rejected(await get(path, shop)), path).to.equal('404 not_found');
      expect(rejected(await get('/monitors?project=blog', shop))).to.equal('403 insufficient_scope');
      const below = { source: 'mine', parent_source: 'secret-parent' };
      expect(rejected(await fixture.api('POST', `${BASE}/monitors`, shop, below))).to.equal('403 insufficient_scope');
      const moved = await fixture.api('PATCH', `${BASE}/monitors/orphan`, shop, { parent_source: 'secret-parent' });
      expect(rejected(moved)).to.equal('403 insufficient_scope');
      const renamed = await fixture.api('PATCH', `${BASE}/monitors/shop-top`, shop, { name: 'Top' });
      expect(renamed.json['monitor']).to.include({ name: 'Top', parent_source: null });
      expect(renamed.text).to.not.include('secret-parent');
    });
  });

  describe('/hierarchy', () => {
    it('loads branches that do not fit a page through a link', async () => {
      await fill(900, (i) => ({
        parent_source: i < 150 ? null : `host-${String(i < 300 ? 0 : i - 150).padStart(6, '0')}`,
      }));
      const browser = await fixture.signedIn();
      const folded = await browser.get('/hierarchy');
      expect(folded.text.match(/class="tree-row"/g), 'healthy branches are folded').to.have.length(100);
      const first = await browser.get('/hierarchy?show=all');
      expect(first.status, first.text).to.equal(200);
      expect(first.text.match(/class="tree-row"/g)).to.have.length(200);
      expect(first.text).to.include('/hierarchy?after&#x3D;host-000099&amp;show&#x3D;all').and.include('more child');
      const second = await browser.get('/hierarchy?after=host-000099&show=all');
      expect(second.text).to.include('host-000149').and.not.include('href="/monitors/host-000099"');
      const branch = await browser.get('/hierarchy?below=host-000150');
      expect(branch.text).to.include('href="/monitors/host-000300"').and.include('/hierarchy?below&#x3D;host-000000');
      expect((await browser.get('/hierarchy?below=nobody')).status).to.equal(404);
    });
  });
});
