/** The setup path by HTTP (contract 60): login, catalog, token, agent. */
import 'reflect-metadata';
import { hash } from 'node:crypto';
import { expect } from 'chai';
import { definePlugin } from '../../../kernel/contract/index.js';
import setup from '../../../plugins/setup/plugin.js';
import watchdog from '../../../plugins/watchdog/plugin.js';
import { RELEASES, type CatalogChannel, type ReleaseDirectory } from '../../../ports/domain/releases.js';
import { HttpFixture, type Answer } from '../access/http-fixture.js';
import { PASSWORD, SHARED_KEY } from '../access/fixture.js';

const BASE = '/api/setup/v1';

/** The update service, with one product for Linux and one for any platform. */
const channel = (more: Partial<CatalogChannel> = {}): CatalogChannel => ({
  channel: 'stable',
  version: '1.2.0',
  platform: 'linux-x64',
  published_at: '2026-11-20T08:00:00.000Z',
  package_size: 4711,
  signed: true,
  runtime: null,
  has_setup: true,
  ...more,
});
const directory: ReleaseDirectory = {
  listChannels: async (product, platform) => {
    if (product === 'shop' && platform === 'linux-x64') return [channel({ channel: 'beta' }), channel()];
    return product === 'tool' || product === 'old' ? [channel({ platform: 'any', has_setup: false })] : [];
  },
  listProducts: async () => ['shop', 'tool', 'old'],
};
const releases = definePlugin({
  id: 'releases',
  version: '1.0.0',
  api: 1,
  title: 'Releases',
  provides: [RELEASES.name],
  scopes: ['updateservice:publish'],
  setup: () => ({ services: { [RELEASES.name]: directory } }),
});

const GRANTED = ['bugtracker:report', 'updateservice:publish', 'watchdog:manage'];

describe('setup', function () {
  let fixture: HttpFixture;

  const outcome = ({ status, json }: Answer): [number, string | undefined] => [status, json.error?.code];
  const post = (path: string, bearer: string | null, body: object): Promise<Answer> =>
    fixture.api('POST', `${BASE}${path}`, bearer, body);
  const account = async (username: string, role: string): Promise<void> => {
    const { status } = await (await fixture.signedIn()).post('/users', { username, role, password: PASSWORD });
    if (status !== 303) throw new Error(`creating ${username} answered ${status}`);
  };
  const login = (username: string, password = PASSWORD): Promise<Answer> =>
    post('/login', null, { username, password });
  const tokenOf = async (username: string): Promise<string> => (await login(username)).json['token'] as string;
  const project = async (slug: string, more: object = {}): Promise<void> => {
    // A token gives no scope to a project that it does not have itself.
    const token = await fixture.token(['projects:manage', ...GRANTED]);
    await fixture.api('POST', '/api/projects/v1/projects', token, { slug, ...more });
  };

  beforeEach(async () => {
    fixture = await HttpFixture.open({ plugins: [watchdog, releases, setup] });
    await account('ivo', 'installer');
    await project('shop', {
      name: 'Shop',
      description: 'Sells things',
      setup_scopes: GRANTED,
    });
  });

  afterEach(() => fixture.stop());

  describe('login', () => {
    it('returns a token for setup only, valid for thirty minutes, with no-store', async () => {
      const answer = await login('IVO');
      expect(answer.status).to.equal(200);
      expect(answer.headers['cache-control']).to.equal('no-store');
      const { token, ...rest } = answer.json;
      expect(token).to.match(/^svc_setup_[0-9A-Za-z]{43}$/);
      expect(rest).to.deep.equal({
        status: 'success',
        token_type: 'Bearer',
        expires_at: new Date(fixture.clock.now() + 1_800_000).toISOString(),
        expires_in: 1800,
        scopes: ['setup:install'],
        account: { username: 'ivo', role: 'installer' },
      });
    });

    it('accepts administrators, and rejects members, wrong passwords, unknown names and bad bodies', async () => {
      await account('mia', 'member');
      expect((await login('admin')).json['account']).to.deep.equal({ username: 'admin', role: 'admin' });
      expect(outcome(await login('mia'))).to.deep.equal([403, 'role_not_allowed']);
      expect(outcome(await login('mia', 'wrong-password-here'))).to.deep.equal([401, 'invalid_credentials']);
      expect(outcome(await login('nobody'))).to.deep.equal([401, 'invalid_credentials']);
      expect(outcome(await post('/login', null, { username: 'ivo' }))).to.deep.equal([422, 'validation_failed']);
    });

    it('expires after exactly 30:00', async () => {
      const token = await tokenOf('ivo');
      fixture.clock.forward(1_799_999);
      expect((await fixture.api('GET', `${BASE}/catalog`, token)).status).to.equal(200);
      fixture.clock.forward(1);
      expect(outcome(await fixture.api('GET', `${BASE}/catalog`, token))).to.deep.equal([401, 'unauthorized']);
    });

    it('grants access to the setup path only, which no other token can access', async () => {
      const token = await tokenOf('ivo');
      const elsewhere = ['/api/tokens/v1/self', '/api/projects/v1/projects', '/api/watchdog/v1/status'];
      for (const url of elsewhere)
        expect(outcome(await fixture.api('GET', url, token)), url).to.deep.equal([403, 'insufficient_scope']);
      const master = await fixture.token(['setup:install']);
      for (const bearer of [master, SHARED_KEY]) {
        expect(outcome(await fixture.api('GET', `${BASE}/catalog`, bearer))).to.deep.equal([403, 'insufficient_scope']);
        expect(outcome(await post('/token', bearer, { project: 'shop' }))).to.deep.equal([403, 'insufficient_scope']);
        const machine = { name: 'm', hostname: 'h', platform: 'any' };
        expect(outcome(await post('/agent', bearer, machine))).to.deep.equal([403, 'insufficient_scope']);
      }
      expect(outcome(await fixture.api('GET', `${BASE}/catalog`, null))).to.deep.equal([401, 'unauthorized']);
    });

    it('ends when the password changes', async () => {
      const token = await tokenOf('admin');
      const browser = await fixture.signedIn();
      const form = {
        current_password: PASSWORD,
        password: 'another-harbour-lantern',
        password_again: 'another-harbour-lantern',
      };
      const changed = await browser.post('/account/password', form, '/account');
      expect(changed.status).to.equal(303);
      expect(outcome(await fixture.api('GET', `${BASE}/catalog`, token))).to.deep.equal([401, 'unauthorized']);
    });
  });

  describe('catalog', () => {
    it('lists active projects with a package for the platform', async () => {
      await project('tool');
      await project('old');
      await project('empty');
      await fixture.api('POST', '/api/projects/v1/projects/old/archive', await fixture.token(['projects:manage']), {});
      const token = await tokenOf('ivo');
      const { json } = await fixture.api('GET', `${BASE}/catalog?platform=linux-x64`, token);
      const { runtime: _r, has_setup: _h, ...shown } = channel();
      expect(json).to.deep.equal({
        status: 'success',
        platform: 'linux-x64',
        projects: [
          {
            slug: 'shop',
            name: 'Shop',
            description: 'Sells things',
            channels: [{ ...shown, channel: 'beta' }, shown],
            requires_runtime: null,
            has_setup: true,
          },
          {
            slug: 'tool',
            name: 'tool',
            description: null,
            channels: [{ ...shown, platform: 'any' }],
            requires_runtime: null,
            has_setup: false,
          },
        ],
      });
      const windows = await fixture.api('GET', `${BASE}/catalog?platform=win-x64`, token);
      expect((windows.json['projects'] as { slug: string }[]).map(({ slug }) => slug)).to.deep.equal(['tool']);
      const bad = await fixture.api('GET', `${BASE}/catalog?platform=beos`, token);
      expect(outcome(bad)).to.deep.equal([422, 'validation_failed']);
      expect(bad.json.error?.fields).to.have.property('platform');
    });
  });

  describe('token', () => {
    it('creates a permanent project token without parent, with the allowed requested scopes', async () => {
      const answer = await post('/token', await tokenOf('ivo'), { project: 'shop', machine_name: 'web-1' });
      expect(answer.status).to.equal(201);
      expect(answer.headers['cache-control']).to.equal('no-store');
      const { token, id, ...rest } = answer.json;
      expect(rest).to.deep.equal({
        status: 'success',
        scopes: ['bugtracker:report'],
        denied: ['updateservice:publish', 'watchdog:manage'],
        expires_at: null,
        project: 'shop',
      });
      const self = await fixture.api('GET', '/api/tokens/v1/self', token as string);
      expect(self.json).to.include({
        id,
        kind: 'sub',
        name: 'shop on web-1',
        parent_id: null,
        project: 'shop',
        expires_at: null,
      });
    });

    it('grants publish and manage scopes only to administrators', async () => {
      const scopes = ['updateservice:publish', 'watchdog:manage', 'bugtracker:manage', 'setup:install'];
      const requested = { project: 'shop', scopes };
      const admin = await post('/token', await tokenOf('admin'), requested);
      expect(admin.json).to.deep.include({ scopes: scopes.slice(0, 2), denied: scopes.slice(2) });
      const installer = await post('/token', await tokenOf('ivo'), requested);
      expect(installer.json).to.deep.include({ scopes: [], denied: scopes });
    });

    it('replaces a setup token of the same name, and rejects one of another origin', async () => {
      const setupToken = await tokenOf('ivo');
      const ask = (more: object) => post('/token', setupToken, { project: 'shop', name: 'web', ...more });
      const first = (await ask({})).json['token'] as string;
      const second = (await ask({})).json['token'] as string;
      const self = (token: string) => fixture.api('GET', '/api/tokens/v1/self', token);
      expect([(await self(first)).status, (await self(second)).status]).to.deep.equal([200, 200]);
      const third = (await ask({ replace: true })).json['token'] as string;
      expect([(await self(first)).status, (await self(second)).status, (await self(third)).status]).to.deep.equal([
        401, 401, 200,
      ]);
      const issued = { kind: 'sub', name: 'hand', scopes: [], project: 'shop', created_by: 'admin' } as const;
      const foreign = await fixture.parts.tokens.issue(issued);
      expect(outcome(await ask({ name: 'hand', replace: true }))).to.deep.equal([409, 'conflict']);
      expect((await self(foreign.token)).status).to.equal(200);
      // Tokens of no project are none of this project's: they stay, and a setup does not learn
      // their names.
      const master = await fixture.parts.tokens.issue({ kind: 'master', name: 'all', scopes: [], created_by: 'admin' });
      expect((await ask({ name: 'all', replace: true })).status).to.equal(201);
      expect((await self(master.token)).status).to.equal(200);
    });

    it('rejects unknown projects and invalid fields, and issues nothing', async () => {
      const setupToken = await tokenOf('ivo');
      const before = (await fixture.parts.tokens.list({ kind: 'sub' })).length;
      expect(outcome(await post('/token', setupToken, { project: 'nope' }))).to.deep.equal([422, 'unknown_project']);
      const bad = [
        {},
        { project: 'shop', expires_in_seconds: 1 },
        { project: 'shop', scopes: 'x' },
        { project: 'shop', name: 'a\u0007' },
      ];
      for (const body of bad)
        expect(outcome(await post('/token', setupToken, body))).to.deep.equal([422, 'validation_failed']);
      expect(await fixture.parts.tokens.list({ kind: 'sub' })).to.have.length(before);
    });
  });

  describe('agent', () => {
    it('names the submitted field in an error', async () => {
      const token = await tokenOf('ivo');
      const live = await fixture.token(['projects:manage']);
      const body = { name: 'web', hostname: `host ${live}`, platform: 'linux-x64' };
      const answer = await post('/agent', token, body);
      expect(outcome(answer)).to.deep.equal([422, 'validation_failed']);
      expect(answer.json.error?.fields).to.have.all.keys('hostname');
    });

    const machine = { name: 'Büro 1', hostname: 'buero1.local', platform: 'linux-x64', project: 'shop' };
    const ping = (token: string, source: string): Promise<Answer> =>
      fixture.api('POST', '/api/watchdog/v1/ping', token, { source, status: 'ok', interval: 60 });

    it('creates a monitor, a token for its source only, and a script that matches its hash', async () => {
      const { status, json } = await post('/agent', await tokenOf('ivo'), { ...machine, interval_seconds: 300 });
      expect(status).to.equal(201);
      const { token, script } = json as unknown as { token: string; script: { content: string; sha256: string } };
      expect(json['monitor']).to.include({
        source: 'B-ro-1',
        name: 'Büro 1',
        interval_seconds: 300,
        os: 'linux',
        project: 'shop',
      });
      expect(json['scopes']).to.deep.equal(['watchdog:ping']);
      expect(token).to.match(/^wd_live_[0-9A-Za-z]{43}$/);
      expect(script).to.include({ filename: 'heartbeat-B-ro-1.sh', eol: 'lf' });
      expect(script.sha256).to.equal(hash('sha256', script.content));
      expect(script.content).not.to.include(token);
      expect(json['schedule']).to.include({ kind: 'cron' });
      expect(json['heartbeat_url']).to.equal('http://aos.test/api/watchdog/v1/ping');
      expect((await ping(token, 'B-ro-1')).status).to.equal(200);
      expect(outcome(await ping(token, 'other'))).to.deep.equal([403, 'source_mismatch']);
    });

    it('returns 409 for an existing source; replace revokes the old token and retains the monitor', async () => {
      const setupToken = await tokenOf('ivo');
      const first = (await post('/agent', setupToken, machine)).json;
      expect(outcome(await post('/agent', setupToken, machine))).to.deep.equal([409, 'conflict']);
      expect(outcome(await post('/agent', setupToken, { ...machine, name: 'B ro 1' }))).to.deep.equal([
        409,
        'conflict',
      ]);
      const again = await post('/agent', setupToken, { ...machine, replace: true });
      expect(again.status).to.equal(201);
      expect((again.json['monitor'] as { id: string }).id).to.equal((first['monitor'] as { id: string }).id);
      expect(outcome(await ping(first['token'] as string, 'B-ro-1'))).to.deep.equal([401, 'unauthorized']);
      expect((await ping(again.json['token'] as string, 'B-ro-1')).status).to.equal(200);
    });

    it('replaces no monitor created outside of a setup, and none of another project', async () => {
      const setupToken = await tokenOf('ivo');
      const manage = await fixture.token(['watchdog:manage', 'watchdog:ping']);
      await ping(manage, 'hand-made');
      const foreign = await post('/agent', setupToken, { ...machine, name: 'hand-made', replace: true });
      expect(outcome(foreign)).to.deep.equal([409, 'conflict']);
      await post('/agent', setupToken, machine);
      const { project: _project, ...elsewhere } = machine;
      expect(outcome(await post('/agent', setupToken, { ...elsewhere, replace: true }))).to.deep.equal([
        409,
        'conflict',
      ]);
    });

    it('assigns the monitor to only one of two concurrent calls', async () => {
      const setupToken = await tokenOf('ivo');
      const answers = await Promise.all([1, 2, 3, 4].map(() => post('/agent', setupToken, machine)));
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([201, 409, 409, 409]);
      expect((await post('/agent', setupToken, { ...machine, replace: true })).status).to.equal(201);
    });

    it('rejects invalid fields and unknown projects, and creates nothing', async () => {
      const setupToken = await tokenOf('ivo');
      const bad: object[] = [
        { ...machine, platform: 'beos' },
        { ...machine, interval_seconds: 5 },
        { ...machine, name: '***' },
        { ...machine, parent_source: 'of two words' },
        { ...machine, parent_source: '../..' },
        { hostname: 'x', platform: 'any' },
      ];
      for (const body of bad)
        expect(outcome(await post('/agent', setupToken, body))).to.deep.equal([422, 'validation_failed']);
      expect(outcome(await post('/agent', setupToken, { ...machine, project: 'nope' }))).to.deep.equal([
        422,
        'unknown_project',
      ]);
      const read = await fixture.token(['watchdog:read']);
      expect((await fixture.api('GET', '/api/watchdog/v1/monitors', read)).json['items']).to.deep.equal([]);
    });
  });
});
