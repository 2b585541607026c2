/**
 * Deleting a project: what goes with it, and what a later one of the same slug has of it: nothing
 * (contract 15).
 */
import 'reflect-metadata';
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { definePlugin, extend } from '../../../../kernel/contract/index.js';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import type { DocumentStore } from '../../../../ports/store/index.js';
import { PROJECT_CLEANUPS } from '../../../../ports/domain/projects.js';
import { runCliJsonInProcess } from '../../../support/in-process-cli.js';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';
import { durableEngines } from '../../../support/durable-engines.js';
import { BrowserVisitor } from '../../../support/browser-visitor.js';
import { HttpFixture } from '../../../plugins/access/http-fixture.js';

const PROJECTS = '/api/projects/v1/projects';
const WINDOWS = ['/api/watchdog/v1/maintenance', '/api/watchdog/v1/silences'];

/** What of a project goes with it, or is kept without it. */
const GO = [
  'access_tokens',
  'bugs_views',
  'dispatch_rules',
  'errorstream_rules',
  'forges_secrets',
  'projects_brands',
  'projects_projects',
  'releasehealth_hours',
  'watchdog_incidents',
  'watchdog_timeline',
  'watchdog_windows',
  'webhooks_events',
  'webhooks_webhooks',
];

for (const engine of durableEngines) {
  describe(`deletion of a project, on ${engine.name}`, function () {
    let service: TestService;
    let admin: string;
    before(async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      service = await TestService.createInProcess({ SVC_WATCHDOG__ERROR_STATUS_IS_DOWN: 'true', ...settings });
      admin = await service.createToken(
        'projects:manage,webhooks:manage,watchdog:manage,bugtracker:manage,bugtracker:report,watchdog:ping,updateservice:publish',
      );
    });
    after(() => service?.dispose());

    const made = async (method: string, path: string, body?: object, bearer = admin) => {
      const answer = await service.request(method, path, bearer, body);
      expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).to.be.within(200, 201);
      return answer.body;
    };
    const itemsOf = async (path: string): Promise<unknown[]> => (await made('GET', path))['items'] as unknown[];

    /** Everything that can be bound to a project whose deletion is not refused. */
    const fill = async (): Promise<string[]> => {
      await service.createProject('shop');
      const master = await service.createToken('bugtracker:manage,webhooks:manage', 'shop');
      const sub = await made('POST', '/api/tokens/v1/provision', { name: 'sub' }, master);
      const ofAll = await service.createToken('bugtracker:read');
      const narrowed = await made('POST', '/api/tokens/v1/provision', { name: 'sub', project: 'shop' }, ofAll);
      const key = await made('POST', `${PROJECTS}/shop/intake-keys`, {});
      const hook = { name: 'hook', url: 'https://example.com/', events: '*', project_slug: 'shop', enabled: true };
      await made('POST', '/api/webhooks/v1/webhooks', hook);
      const ignore = { match_type: 'contains', pattern: 'noise', reason: 'known', project: 'shop' };
      await made('POST', '/api/errors/v1/ignore-rules', ignore);
      await made('POST', '/api/bugtracker/v1/request-rules', { agent: 'fixer', project: 'shop' });
      await made('POST', `${PROJECTS}/shop/forge-secret`);
      await made('PATCH', `${PROJECTS}/shop/brand`, { seller: 'Shop Ltd' });
      const monitor = { source: 'shop-1', interval_seconds: 60, project: 'shop' };
      await made('POST', '/api/watchdog/v1/monitors', monitor);
      await made('POST', '/api/watchdog/v1/ping', { source: 'shop-1', status: 'error' });
      const bound = await service.createToken('watchdog:manage', 'shop');
      const until = new Date(Date.now() + 3_600_000).toISOString();
      await made('POST', '/api/watchdog/v1/maintenance', { sources: ['shop-1'], until }, bound);
      // A window and a silence of the project outlive the monitor, which goes to no project.
      await made('POST', '/api/watchdog/v1/monitors', { source: 'moved', project: 'shop' });
      for (const kind of ['maintenance', 'silences'])
        await made('POST', `/api/watchdog/v1/${kind}`, { sources: ['moved'], until }, bound);
      await made('PATCH', '/api/watchdog/v1/monitors/moved', { project: null });
      await made('POST', '/api/watchdog/v1/event', { source: 'shop-1', type: 'note' });
      await made('DELETE', '/api/watchdog/v1/monitors/shop-1');
      const sessions = JSON.stringify({
        attrs: { release: 'shop@1.0.0', environment: 'production' },
        aggregates: [{ started: new Date().toISOString(), exited: 3 }],
      });
      const { number } = (await made('GET', `${PROJECTS}/shop`))['project'] as { number: number };
      const sent = await fetch(`${service.url}/api/${number}/envelope/?sentry_key=${String(key['key'])}`, {
        method: 'POST',
        body: `{}\n{"type":"sessions"}\n${sessions}`,
      });
      expect(sent.status).to.equal(200);
      const browser = new BrowserVisitor(service);
      await browser.signIn(ADMIN_ACCOUNT);
      const saved = { name: 'of shop', audience: 'project:shop', match: 'status=open&project=shop' };
      await browser.post('/bugs/views', saved, '/bugs');
      return [master, bound, ...[sub, narrowed].map(({ token }) => String(token)), String(key['key'])];
    };

    /** Collections with a row of which a field is the project's slug. */
    const naming = async (): Promise<string[]> => {
      const dir = await mkdtemp(join(service.dataDir, 'export-'));
      await runCliJsonInProcess(service.env, ['export', join(dir, 'all.tar.gz')]);
      await promisify(execFile)('tar', ['-xzf', join(dir, 'all.tar.gz'), '-C', dir], { timeout: 120_000 });
      const names = new Set<string>();
      for (const file of await readdir(dir, { recursive: true })) {
        if (!file.endsWith('.jsonl')) continue;
        const rows = (await readFile(join(dir, file), 'utf8')).split('\n').filter((line) => line !== '');
        if (rows.some((row) => Object.values(JSON.parse(row) as object).includes('shop')))
          names.add(basename(dirname(file)));
      }
      return [...names].sort();
    };

    it('revokes its tokens immediately, and exposes no data to a later project with the same slug', async () => {
      const tokens = await fill();
      expect(await naming()).to.include.members(GO);
      expect(await made('DELETE', `${PROJECTS}/shop`)).to.deep.equal({ status: 'success', deleted: true });
      for (const token of tokens) {
        const { status, body } = await service.request('GET', '/api/tokens/v1/self', token);
        expect([status, (body['error'] as { code: string }).code]).to.deep.equal([401, 'unauthorized']);
      }
      expect(await naming()).to.deep.equal(['access_audit', 'projects_deletions']);
      await service.createProject('shop');
      for (const path of [
        '/api/webhooks/v1/webhooks',
        '/api/webhooks/v1/events?project_slug=shop',
        '/api/errors/v1/ignore-rules?project=shop',
        `${PROJECTS}/shop/intake-keys`,
      ])
        expect(await itemsOf(path), path).to.deep.equal([]);
      expect((await made('GET', '/api/errors/v1/health?project=shop'))['versions']).to.deep.equal([]);
      expect((await made('GET', `${PROJECTS}/shop/brand`))['brand']).to.include({ seller: null });
      const again = await service.createToken('watchdog:read,bugtracker:read', 'shop');
      const mine = async (path: string): Promise<unknown> => (await made('GET', path, undefined, again))['items'];
      for (const path of ['/api/watchdog/v1/incidents', '/api/watchdog/v1/events', ...WINDOWS])
        expect(await mine(path), path).to.deep.equal([]);
    });
  });
}

describe('an interrupted deletion', function () {
  let fixture: HttpFixture;
  let manage: string;
  let broken: 'clear' | 'detach' | null;
  const left: string[] = [];
  const elsewhere = definePlugin({
    id: 'elsewhere',
    version: '1.0.0',
    api: 1,
    title: 'Elsewhere',
    extends: [PROJECT_CLEANUPS.point],
    setup: () => ({
      extensions: (['clear', 'detach'] as const).map((step) =>
        extend(PROJECT_CLEANUPS, {
          clear: () => Promise.resolve(),
          [step]: async (slug: string) => {
            if (broken === step) throw new Error('the disk is full');
            left.push(`${step} ${slug}`);
          },
        }),
      ),
    }),
  });
  const call = async (method: 'GET' | 'POST' | 'DELETE', path = '', body?: object): Promise<unknown[]> => {
    const { status, json } = await fixture.api(method, `${PROJECTS}${path}`, manage, body);
    return json.error === undefined ? [status] : [status, json.error.code];
  };
  beforeEach(async () => {
    broken = null;
    fixture = await HttpFixture.open({ plugins: [elsewhere] });
    manage = await fixture.token(['projects:manage']);
    await call('POST', '', { slug: 'shop' });
  });
  afterEach(() => fixture.stop());

  for (const step of ['clear', 'detach'] as const) {
    it(`hides the project in the step ${step}, and reserves its slug until the job has finished`, async () => {
      const token = await fixture.token(['projects:read'], 'shop');
      broken = step;
      expect(await call('DELETE', '/shop')).to.deep.equal([500, 'internal_error']);
      expect((await fixture.api('GET', '/api/tokens/v1/self', token)).status).to.equal(401);
      expect(await call('GET', '/shop')).to.deep.equal([404, 'not_found']);
      expect(await call('DELETE', '/shop')).to.deep.equal([404, 'not_found']);
      expect(await call('POST', '/shop/unarchive')).to.deep.equal([404, 'not_found']);
      expect(await fixture.parts.projects.get('shop')).to.equal(null);
      expect(await fixture.parts.projects.findByNumber(1)).to.equal(null);
      expect(await fixture.parts.projects.list()).to.deep.equal([]);
      expect(await call('POST', '', { slug: 'shop' })).to.deep.equal([409, 'conflict']);
      broken = null;
      left.length = 0;
      await fixture.harness.jobs.runNow('projects.deletions');
      expect(left, 'another process may be at it').to.deep.equal([]);
      fixture.clock.forward(61_000);
      await fixture.harness.jobs.runNow('projects.deletions');
      expect(left).to.deep.equal(['clear shop', 'detach shop']);
      const { items } = await fixture.parts.audit.listRecent(1);
      expect(items[0]).to.include({ action: 'project.deleted', target: 'shop', actor: 'system' });
      expect(items[0]?.details).to.deep.equal({ number: 1, by: 'token test' });
      expect(await call('POST', '', { slug: 'shop' })).to.deep.equal([201]);
      expect(await fixture.parts.projects.get('shop')).to.include({ number: 2, archived: false });
    });
  }

  it('revokes tokens that were bound to a slug before its project is created', async () => {
    const token = await fixture.token(['projects:read'], 'later');
    expect(await call('POST', '', { slug: 'later' })).to.deep.equal([201]);
    expect((await fixture.api('GET', '/api/tokens/v1/self', token)).status).to.equal(401);
  });
});

describe('deletion of a project while a plugin is disabled', () => {
  const fixtures: HttpFixture[] = [];
  afterEach(async () => {
    for (const fixture of fixtures.splice(0)) await fixture.stop();
  });
  const requested: string[] = [];
  let broken = false;
  const elsewhere = definePlugin({
    id: 'elsewhere',
    version: '1.0.0',
    api: 1,
    title: 'Elsewhere',
    extends: [PROJECT_CLEANUPS.point],
    setup: () => ({
      extensions: [
        extend(PROJECT_CLEANUPS, {
          clear: async (slug) => {
            if (broken) throw new Error('the disk is full');
            requested.push(`clear ${slug}`);
          },
          detach: async (slug) => void requested.push(`detach ${slug}`),
        }),
      ],
    }),
  });
  /** A process over the store; what the plugin was asked for meanwhile. */
  const process = async (
    store: DocumentStore,
    on: boolean,
    work: (call: (method: 'POST' | 'DELETE', path: string, body?: object) => Promise<number>) => Promise<void>,
  ): Promise<string[]> => {
    const fixture = await HttpFixture.open({ store, plugins: on ? [elsewhere] : [] });
    fixtures.push(fixture);
    const manage = await fixture.token(['projects:manage']);
    await work(async (method, path, body) => (await fixture.api(method, `${PROJECTS}${path}`, manage, body)).status);
    await fixtures.pop()?.stop();
    return requested.splice(0);
  };
  /** One that is there after a stop. */
  const lasting = (): DocumentStore => Object.assign(new MemoryStore(), { close: async () => undefined });
  const nothing = async (): Promise<void> => undefined;

  for (const again of [true, false])
    it(`leaves no data when the plugin is enabled again, ${again ? 'created again meanwhile or' : ''} not`, async () => {
      const store = lasting();
      await process(store, true, async (call) => void expect(await call('POST', '', { slug: 'shop' })).to.equal(201));
      await process(store, false, async (call) => {
        expect(await call('DELETE', '/shop')).to.equal(200);
        if (again) expect(await call('POST', '', { slug: 'shop' })).to.equal(201);
      });
      broken = true;
      expect(await process(store, true, nothing)).to.deep.equal([]);
      broken = false;
      expect(await process(store, true, nothing)).to.deep.equal(['clear shop', 'detach shop']);
      expect(await process(store, true, nothing), 'once').to.deep.equal([]);
    });

  it('preserves the plugin’s data of a later project with the same slug', async () => {
    const store = lasting();
    await process(store, true, async (call) => {
      await call('POST', '', { slug: 'shop' });
      expect(await call('DELETE', '/shop')).to.equal(200);
    });
    expect(await process(store, true, nothing)).to.deep.equal([]);
    await process(store, false, async (call) => {
      await call('POST', '', { slug: 'shop' });
      expect(await call('DELETE', '/shop')).to.equal(200);
    });
    // Another process has the plugin on, and makes the next one.
    const other = await HttpFixture.open({ store });
    fixtures.push(other);
    await other.harness.store
      .collection<{ id: string; cleared: string[] }>('projects_deletions')
      .change({ id: 'shop' }, { push: { cleared: { each: ['elsewhere'] } } });
    expect(await process(store, true, nothing)).to.deep.equal([]);
  });
});
