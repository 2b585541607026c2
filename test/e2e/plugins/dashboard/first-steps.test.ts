/**
 * The first steps of an empty service: each is ticked when it has happened, and its command runs as
 * it is printed (contract 80, look). With a shell that runs what the page shows.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { waitUntil } from '../../../harness.js';
import { Receiver } from '../../../plugins/webhooks/receiver.js';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';
import { BrowserVisitor } from '../../../support/browser-visitor.js';
import { Agent } from '../../../plugins/mcp/fixture.js';

const MEMBER = { username: 'mia', password: 'quiet-lantern-harbour' };
const run = promisify(execFile);

const decoded = (text: string): string =>
  text
    .replaceAll(/&#x([0-9a-f]+);/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** id → whether its step is ticked. */
const ticks = (html: string): Record<string, boolean> =>
  Object.fromEntries(
    [...html.matchAll(/<li class="step( is-done)?" id="step-([a-z-]+)"/g)].map(([, done, id = '']) => [id, !!done]),
  );

describe('dashboard: /first-steps', () => {
  let service: TestService;
  let admin: BrowserVisitor;
  let folder: string;

  before(async () => {
    service = await TestService.createInProcess();
    folder = await mkdtemp(join(tmpdir(), 'aos-steps-'));
    await writeFile(join(folder, 'app.txt'), 'an application');
    admin = new BrowserVisitor(service);
    expect(await admin.signIn(ADMIN_ACCOUNT)).to.equal(303);
    const member = ['user', 'create', '--username', MEMBER.username, '--role', 'member', '--password-stdin'];
    await service.runCommand(member, MEMBER.password);
  });
  after(async () => {
    await service?.dispose();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const page = async (visitor: BrowserVisitor, path = '/first-steps'): Promise<string> =>
    (await visitor.get(path)).text();

  /** Presses the step's button, and gives the command that is shown for one look. */
  const commandOf = async (id: string): Promise<string> => {
    const pressed = await admin.post(`/first-steps/${id}/token`, {}, '/first-steps');
    expect(pressed.status, id).to.equal(303);
    const shown = await page(admin, pressed.headers.get('location') ?? '');
    const command = decoded(/<pre tabindex="0"><code>([\s\S]*?)<\/code>/.exec(shown)?.[1] ?? '');
    expect(command).to.match(/svc_live_[0-9A-Za-z]{43}/);
    const again = await page(admin, pressed.headers.get('location') ?? '');
    expect(again, 'a second look').not.to.include('svc_live_');
    return command;
  };

  const shell = (command: string): Promise<{ stdout: string }> => run('bash', ['-c', command], { cwd: folder });

  it('lists only unfinished steps for an empty service', async () => {
    expect(ticks(await page(admin))).to.deep.equal({
      project: false,
      'first-error': false,
      agent: false,
      monitor: false,
      release: false,
      license: false,
      machine: false,
      channel: false,
    });
    expect(ticks(await page(admin, '/'))).to.have.property('project', false);
  });

  it('names what a step lacks instead of a command that would fail', async () => {
    const shown = await page(admin);
    expect(shown).to.include('npm run build:agent').and.include('Installers aren’t built yet');
    expect(shown).not.to.include('install.sh');
  });

  it('checks off each step automatically after its printed command has run', async () => {
    await admin.post('/projects', { slug: 'shop', name: 'Shop' }, '/projects/new');
    expect(ticks(await page(admin))).to.have.property('project', true);
    for (const id of ['first-error', 'monitor', 'release']) {
      const { stdout } = await shell(await commandOf(id));
      expect(JSON.parse(stdout), id).to.have.property('status', 'success');
      expect(ticks(await page(admin)), id).to.have.property(id, true);
    }
  });

  it('offers the form for a license and for a check of a URL', async () => {
    const shown = await page(admin);
    expect(shown)
      .to.include('href="/licenses/new"')
      .and.match(/href="\/probes\/new"[^>]*>Check a URL/);
    const token = await service.createToken('license:manage');
    const body = { product: 'shop', licensee: 'Kettleworth' };
    expect((await service.request('POST', '/api/license/v1/licenses', token, body)).status).to.equal(201);
    expect(ticks(await page(admin))).to.have.property('license', true);
  });

  it('finds what arrived since the page began to wait, of its project', async () => {
    const result = async (query: string): Promise<unknown> => {
      const answer = await admin.get(`/first-steps/first-error/result?${query}`);
      return ((await answer.json()) as { found: unknown }).found;
    };
    expect(await result('since=2020-01-01T00:00:00.000Z&project=shop')).to.deep.include({ href: '/bugs/shop-1' });
    expect(await result('since=2020-01-01T00:00:00.000Z&project=other')).to.equal(null);
    expect(await result(`since=${new Date(Date.now() + 60_000).toISOString()}`)).to.equal(null);
    expect((await admin.get('/first-steps/first-error/result')).status).to.equal(400);
  });

  it('names its tokens so that they stand together', async () => {
    const listed = await page(admin, '/tokens');
    expect(listed).to.include('Get started: first error').and.include('Get started: first heartbeat');
  });

  it('counts a skipped step as done for the account alone, until it is resumed', async () => {
    const steps = async (visitor: BrowserVisitor): Promise<string | undefined> =>
      /(\d+) of 8 done/.exec(await page(visitor))?.[1];
    const member = new BrowserVisitor(service);
    await member.signIn(MEMBER);
    const before = await steps(member);
    expect((await member.post('/first-steps/machine/skip', {}, '/first-steps')).status).to.equal(303);
    expect((await member.post('/first-steps/machine/skip', {}, '/first-steps')).status, 'twice').to.equal(303);
    expect(await steps(member)).to.equal(String(Number(before) + 1));
    expect(await page(member)).to.include('Skipped');
    expect(await steps(admin), 'another account').to.equal(before);
    await member.post('/first-steps/machine/unskip', {}, '/first-steps');
    expect(await steps(member)).to.equal(before);
    expect((await member.post('/first-steps/nothing/skip', {}, '/first-steps')).status).to.equal(404);
  });

  it('detects a coding agent by its first call', async () => {
    const token = /SVC_TOKEN=(svc_live_\w+)/.exec(await commandOf('agent'))?.[1] ?? '';
    const agent = await Agent.connect(service.url, token);
    await waitUntil('the agent is seen', async () => ticks(await page(admin))['agent'] === true);
    // Every tool of its guide is its own: it takes work, and reports what it finds on the way.
    const found = await agent.call('report', { project: 'shop', title: 'Found on the way' });
    expect(found.error, found.text).to.equal(null);
    const taken = await agent.call('claim', { id: found.data['ref'] });
    expect(taken.error, taken.text).to.equal(null);
    await agent.close();
  });

  it('ticks alerts by a delivery, never by a webhook or a channel that exists', async () => {
    const token = await service.createToken('webhooks:manage');
    const receiver = await Receiver.open();
    try {
      const create = async (name: string, url: string): Promise<void> => {
        const body = { name, url, events: ['bug.created'] };
        expect((await service.request('POST', '/api/webhooks/v1/webhooks', token, body)).status).to.equal(201);
      };
      await create('silent', 'https://hooks.example.org/');
      expect(ticks(await page(admin))).to.have.property('channel', false);
      await create('ci', receiver.url);
      const report = await service.createToken('bugtracker:report');
      const error = { project: 'shop', error_level: 'error', error_message: 'A delivered one' };
      const made = await service.request('POST', '/api/errors/v1/report', report, error);
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      await waitUntil('the delivery is counted', async () => ticks(await page(admin))['channel'] === true);
    } finally {
      await receiver.close();
    }
  });

  it('is hidden on the dashboard for users who dismissed it, until they open it again', async () => {
    const member = new BrowserVisitor(service);
    await member.signIn(MEMBER);
    expect((await member.post('/first-steps/dismiss', {}, '/')).status).to.equal(303);
    expect((await member.post('/first-steps/dismiss', {}, '/first-steps')).status, 'twice').to.equal(303);
    expect(ticks(await page(member, '/'))).to.deep.equal({});
    expect(await page(member, '/')).to.include('href="/first-steps"');
    expect(ticks(await page(admin, '/')), 'another account').to.have.property('machine', false);
    expect((await member.post('/first-steps/show', {}, '/first-steps')).status).to.equal(303);
    expect(ticks(await page(member, '/'))).to.have.property('machine', false);
  });

  it('uses the newest project, or the one chosen in the project bar, and creates its token for it', async () => {
    /** Of the command and of the token's own answer. */
    const projectsOf = async (fields: Record<string, string>): Promise<unknown[]> => {
      const pressed = await admin.post('/first-steps/first-error/token', fields, '/first-steps');
      expect(pressed.status).to.equal(303);
      const command = decoded(await page(admin, pressed.headers.get('location') ?? ''));
      const token = /svc_live_[0-9A-Za-z]{43}/.exec(command)?.[0] ?? '';
      const { body } = await service.request('GET', '/api/tokens/v1/self', token);
      return [/"project":\s*"([a-z]+)"/.exec(command)?.[1], body['project']];
    };
    const offered = async (path = '/first-steps'): Promise<unknown> =>
      /<input type="hidden" name="project" value="([a-z]+)">/.exec(await page(admin, path))?.[1];
    const choose = (project: string): Promise<Response> => admin.post('/project-choice', { project }, '/first-steps');
    expect(await offered()).to.equal('shop');
    await admin.post('/projects', { slug: 'atlas', name: 'Atlas' }, '/projects/new');
    await admin.post('/projects', { slug: 'zebra', name: 'Zebra' }, '/projects/new');
    // Neither the first nor the last by slug.
    await admin.post('/projects', { slug: 'mill', name: 'Mill' }, '/projects/new');
    expect(await offered()).to.equal('mill');
    expect(await projectsOf({ project: 'mill' })).to.deep.equal(['mill', 'mill']);
    await choose('atlas');
    expect([await offered(), await offered('/'), await offered('/first-steps?project=zebra')]).to.deep.equal([
      'atlas',
      'atlas',
      'zebra',
    ]);
    expect(await projectsOf({})).to.deep.equal(['atlas', 'atlas']);
    // A page that was opened before another project was chosen: its button does what it says.
    expect(await page(admin)).to.include('Create token and show command');
    await choose('zebra');
    expect(await projectsOf({ project: 'atlas' })).to.deep.equal(['atlas', 'atlas']);
    const manage = await service.createToken('projects:manage');
    expect((await service.request('POST', '/api/projects/v1/projects/atlas/archive', manage)).status).to.equal(200);
    const gone = await admin.post('/first-steps/first-error/token', { project: 'atlas' }, '/first-steps');
    expect(gone.status).to.equal(409);
    await choose('');
    expect(await offered()).to.equal('mill');
  });

  it('adds sample data that ticks nothing, and removes all of it with one click', async () => {
    const reader = await service.createToken('bugtracker:read,watchdog:read');
    const listed = async (path: string): Promise<number> =>
      ((await service.request('GET', path, reader)).body['items'] as object[]).length;
    const before = ticks(await page(admin));
    const member = new BrowserVisitor(service);
    await member.signIn(MEMBER);
    expect((await member.post('/first-steps/sample', {}, '/first-steps')).status).to.equal(403);
    for (let round = 0; round < 2; round++) {
      expect((await admin.post('/first-steps/sample', {}, '/first-steps')).status).to.equal(303);
      expect((await admin.post('/first-steps/sample', {}, '/first-steps')).status, 'twice').to.equal(409);
      expect(await listed('/api/bugtracker/v1/bugs?project=sample')).to.be.greaterThan(3);
      expect(await listed('/api/watchdog/v1/monitors?project=sample')).to.equal(3);
      expect(ticks(await page(admin))).to.deep.equal(before);
      expect((await admin.post('/first-steps/sample/remove', {}, '/first-steps')).status).to.equal(303);
      expect((await admin.get('/projects/sample')).status).to.equal(404);
      expect(await listed('/api/watchdog/v1/monitors?project=sample')).to.equal(0);
    }
    const log = await page(admin, '/audit');
    expect(log).to.include('added the sample data').and.include('removed the sample data');
  });

  it('leaves a project alone that is named like the sample', async () => {
    await admin.post('/projects', { slug: 'sample', name: 'My own' }, '/projects/new');
    expect((await admin.post('/first-steps/sample', {}, '/first-steps')).status).to.equal(409);
    expect((await admin.post('/first-steps/sample/remove', {}, '/first-steps')).status).to.equal(303);
    expect(await page(admin, '/projects/sample')).to.include('My own');
  });

  it('creates tokens only for administrators, and only for steps that need a token', async () => {
    const member = new BrowserVisitor(service);
    await member.signIn(MEMBER);
    expect(await page(member)).not.to.include('/first-steps/first-error/token');
    expect((await member.post('/first-steps/first-error/token', {}, '/first-steps')).status).to.equal(403);
    for (const id of ['project', 'machine', 'nothing']) {
      expect((await admin.post(`/first-steps/${id}/token`, {}, '/first-steps')).status, id).to.equal(404);
    }
  });

  it('counts a machine as installed after a call to the setup API, with or without its own token', async () => {
    const login = await service.request('POST', '/api/setup/v1/login', null, ADMIN_ACCOUNT);
    expect(login.status).to.equal(200);
    const session = String(login.body['token']);
    expect((await service.request('GET', '/api/setup/v1/catalog?platform=linux-x64', session)).status).to.equal(200);
    expect(ticks(await page(admin))).to.have.property('machine', true);
  });
});
