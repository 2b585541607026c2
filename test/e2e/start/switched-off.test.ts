/**
 * Every plugin that is not critical can be switched off: the service starts without it, for the
 * first time, takes reports, and no page has a link that leads nowhere. The whole service runs in
 * this process, on a store in memory, whose tables cost nothing; with nothing off, and without the
 * error stream, it is the program on the embedded store.
 *
 * The guides are two thirds of all pages, and tell of every plugin whether or not it runs. So each
 * is read when nothing is off; without a plugin its links are followed as they were read, and every
 * so many-th guide is fetched and must be the same.
 */
import { expect } from 'chai';
import { BUILTIN } from '../../../config/compose/compose.js';
import { scaleRepeats } from '../../support/repeat-budget.js';
import { ADMIN_ACCOUNT, runCli, SHARED_KEY, TestService } from '../../support/service.js';

const OPTIONAL = BUILTIN.filter(({ critical }) => critical !== true).map(({ id }) => id);
/** Switched off in the real program; most pages tell of it. */
const BY_PROGRAM = 'errorstream';
/** Where there is time, the first start is one on the embedded store. */
const STORE: Record<string, string> = scaleRepeats(1) > 1 ? {} : { SVC_STORAGE_URL: 'memory:' };
/**
 * Pages that are the same whatever their query says are visited once in each of these forms at
 * most.
 */
const FORMS = 2;
const HREF = /<a\b[^>]*?\shref="([^"]*)"/g;
const unescaped = (text: string): string =>
  text.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=').replaceAll('&quot;', '"').replaceAll('&#x27;', "'");

/** What a guide says, without the navigation around it. */
const guideOf = (html: string): string => /<main\b[\s\S]*<\/main>/.exec(html)?.[0] ?? '';
/** Not the interface, which is that of what runs. */
const isGuide = (path: string): boolean => path.startsWith('/docs/') && !/^\/docs\/(api|components)/.test(path);
const linksOf = (html: string): Set<string> =>
  new Set(Array.from(html.matchAll(HREF), ([, href = '']) => unescaped(href)));

/** A signed-in person who follows every link. */
class Visitor {
  #cookies = new Map<string, string>();
  /** Guides that this person has read. */
  readonly guides = new Map<string, string>();
  constructor(private readonly url: string) {}

  async #fetch(path: string, body?: URLSearchParams): Promise<{ status: number; html: string; to: string | null }> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const method = body === undefined ? 'GET' : 'POST';
    // Compressed, each page would cost its compression and its expansion.
    const headers = { cookie, accept: 'text/html', 'accept-encoding': 'identity', origin: this.url };
    const response = await fetch(this.url + path, { method, headers, body, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    const html = response.headers.get('content-type')?.startsWith('text/html') === true ? await response.text() : '';
    if (html === '') await response.body?.cancel();
    return { status: response.status, html, to: response.headers.get('location') };
  }

  async signIn(): Promise<void> {
    const { html } = await this.#fetch('/login');
    const csrf_token = /name="csrf_token" value="([^"]*)"/.exec(html)?.[1] ?? '';
    const { status } = await this.#fetch('/login', new URLSearchParams({ ...ADMIN_ACCOUNT, csrf_token }));
    expect(status, 'login').to.be.oneOf([302, 303]);
  }

  /**
   * Every path that was visited, and the dead ones as `page → link: status`.
   * @param known guides as they were read before
   * @param fetched which of them are fetched all the same
   */
  async crawl(
    known: ReadonlyMap<string, string> = new Map(),
    fetched = (_guide: string) => true,
  ): Promise<{ visited: Set<string>; dead: string[] }> {
    const visited = new Set<string>();
    const forms = new Map<string, number>();
    const dead: string[] = [];
    const waiting: { path: string; from: string }[] = [{ path: '/', from: 'the address' }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { path, from } = next;
      const [page = ''] = path.split('?');
      const form = page.replaceAll(/[0-9a-f-]{36}|\d+/g, '*');
      if (visited.has(path) || (forms.get(form) ?? 0) >= FORMS) continue;
      visited.add(path);
      forms.set(form, (forms.get(form) ?? 0) + 1);
      const kept = known.get(path);
      const { status, html, to } =
        kept === undefined || fetched(path) ? await this.#fetch(path) : { status: 200, html: kept, to: null };
      if (status >= 400) dead.push(`${from} → ${path}: ${status}`);
      if (isGuide(path) && status === 200) this.guides.set(path, guideOf(html));
      for (const link of to === null ? linksOf(html) : [to]) {
        const target = new URL(link, this.url + path);
        if (target.origin === this.url) waiting.push({ path: target.pathname + target.search, from: path });
      }
    }
    return { visited, dead };
  }
}

describe('start: disabled plugins', function () {
  let service: TestService | undefined;
  afterEach(async () => {
    await service?.dispose();
    service = undefined;
  });

  /** As they are read with nothing off. */
  let guides: ReadonlyMap<string, string>;
  let crawl: Awaited<ReturnType<Visitor['crawl']>>;

  async function visitorOf(running: TestService): Promise<Visitor> {
    service = running;
    await running.createProject('shop');
    const token = await running.createToken('bugtracker:report,bugtracker:manage');
    for (const type of ['error', 'bug']) {
      const report = { project: 'shop', type, title: `A ${type}`, error_message: 'no price', app_version: '1.0' };
      const answer = await running.request('POST', '/api/bugtracker/v1/report', token, report);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    }
    const visitor = new Visitor(running.url);
    await visitor.signIn();
    return visitor;
  }

  async function program(off: readonly string[]): Promise<TestService> {
    const running = await TestService.createEmpty({ SVC_PLUGINS_OFF: JSON.stringify(off) });
    service = running;
    await running.start();
    return running;
  }

  before(async () => {
    const visitor = await visitorOf(await program([]));
    crawl = await visitor.crawl();
    guides = visitor.guides;
    await service?.dispose();
  });

  it('follows the links of every page with all plugins enabled', () => {
    const { visited, dead } = crawl;
    expect(dead).to.deep.equal([]);
    const paths = [...visited].map((path) => path.split('?')[0]);
    expect(paths).to.include.members([
      '/',
      '/bugs',
      '/errors',
      '/ignore-rules/new',
      '/webhooks',
      '/monitors',
      '/system',
    ]);
    expect(guides.size).to.be.greaterThan(50);
    expect([...guides.values()]).to.not.include('');
  });

  for (const [turn, id] of OPTIONAL.entries()) {
    it(`${id}: starts, accepts reports, and has no dead link`, async () => {
      const off = { SVC_PLUGINS_OFF: JSON.stringify([id]) };
      const running =
        id === BY_PROGRAM ? await program([id]) : await TestService.createEmptyInProcess({ ...off, ...STORE });
      const visitor = await visitorOf(running);
      // Together the plugins fetch every guide.
      const ofThisTurn = new Set([...guides.keys()].filter((_, i) => i % OPTIONAL.length === turn));
      const { visited, dead } = await visitor.crawl(guides, (path) => ofThisTurn.has(path));
      expect(dead).to.deep.equal([]);
      expect(visited.size).to.be.greaterThan(10);
      const changed = [...visitor.guides].filter(([path, text]) => guides.get(path) !== text);
      expect(changed.map(([path]) => path)).to.deep.equal([]);
      const { body } = await running.request('GET', '/api/health', SHARED_KEY);
      const { checks, healthy } = body as {
        healthy: boolean;
        checks: { plugins: Record<string, { state: string; reason?: string }> };
      };
      expect(checks.plugins[id]?.state).to.equal('off');
      expect(healthy).to.equal(true);
      if (id === BY_PROGRAM) {
        // An item has no “ignore like this”, and the Sentry intake is off with it.
        const pages = [...visited].filter((path) => !path.startsWith('/docs/'));
        expect(pages.filter((path) => /ignore|^\/errors/.test(path))).to.deep.equal([]);
        expect(checks.plugins['sentry']).to.include({
          state: 'off',
          reason: 'needs "errorstream.intake" of plugin errorstream, which is disabled',
        });
      }
    });
  }

  it('aborts the start with one line that names a critical or unknown plugin', async () => {
    const stopped = await TestService.createEmpty({ SVC_PLUGINS_OFF: '["bugs"]' });
    service = stopped;
    const critical = await runCli(stopped.env, ['serve']);
    expect(critical.code).to.equal(1);
    expect(critical.stderr).to.include('plugins_off contains "bugs", but the service cannot run without it');
    const unknown = await runCli({ ...stopped.env, SVC_PLUGINS_OFF: '["errorstraem"]' }, ['serve']);
    expect(unknown.code).to.equal(1);
    expect(unknown.stderr).to.include('plugins_off contains "errorstraem", but this plugin does not exist');
  });
});
