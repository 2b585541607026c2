/**
 * Access and projects behind the real kernel and the real HTTP adapter, without a socket; and a
 * browser with cookies.
 */
import 'reflect-metadata';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HapiServer } from '../../../adapters/hapi/server.js';
import { createHelpers } from '../../../web/helpers/index.js';
import { definePlugin, extend, type Extension, type Plugin } from '../../../kernel/contract/index.js';
import type { KernelParts } from '../../../kernel/kernel.js';
import access from '../../../plugins/access/plugin.js';
import projects from '../../../plugins/projects/plugin.js';
import { CREDENTIALS, ADMIN_BOOTSTRAP } from '../../../ports/domain/access.js';
import { AUDIT, type AuditLog } from '../../../ports/domain/audit.js';
import { TOKENS, type TokenIssuer } from '../../../ports/domain/tokens.js';
import { PROJECT_USAGE, PROJECTS, type ProjectDirectory, type ProjectUsage } from '../../../ports/domain/projects.js';
import { MemoryStore } from '../../../adapters/memory/store.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { bootTestKernel, markValidated, type TestKernel } from '../../harness.js';
import { fakeMetrics } from '../../kit/fakes.js';
import { cipher, FakeHasher, ids, ManualClock, PASSWORD, SHARED_KEY } from './fixture.js';

const HERE = dirname(fileURLToPath(import.meta.url));
const OFF = {
  intake_per_minute: 0,
  intake_burst: 0,
  api_per_minute: 0,
  bulk_per_minute: 0,
  auth_failures_per_minute: 0,
  public_per_minute: 0,
};

/** Registers the scopes that the bugs plugin will, and shows what the others offer. */
interface Probe {
  tokens: TokenIssuer;
  audit: AuditLog;
  projects: ProjectDirectory;
  /** What hangs on a project, by noun: a test puts its own in place. */
  uses: Partial<Record<(typeof NOUNS)[number], ProjectUsage['isInUse']>>;
  ensureAdmin(): Promise<unknown>;
}

const NOUNS = ['releases', 'bug items', 'items'] as const;
const ABSENT_SCOPES = [
  'bugtracker:report',
  'bugtracker:read',
  'bugtracker:manage',
  'watchdog:ping',
  'watchdog:read',
  'watchdog:manage',
  'setup:install',
  'updateservice:publish',
  'license:read',
  'license:manage',
];

/** @param scopes of plugins that are not there */
function probe(into: Partial<Probe>, scopes: readonly string[]): Plugin {
  return definePlugin({
    id: 'probe',
    version: '1.0.0',
    api: 1,
    title: 'Probe',
    needs: [TOKENS.name, AUDIT.name, PROJECTS.name, ADMIN_BOOTSTRAP.name, CREDENTIALS.name],
    extends: [PROJECT_USAGE.point],
    scopes,
    setup(ctx) {
      const uses: Probe['uses'] = {};
      const ensureAdmin = (): Promise<unknown> => ctx.resolve(ADMIN_BOOTSTRAP).ensureAdmin();
      Object.assign(into, {
        tokens: ctx.resolve(TOKENS),
        audit: ctx.resolve(AUDIT),
        projects: ctx.resolve(PROJECTS),
        uses,
        ensureAdmin,
      });
      const usage = (noun: (typeof NOUNS)[number]): Extension =>
        extend(PROJECT_USAGE, { noun, isInUse: async (slug) => (await uses[noun]?.(slug)) ?? false });
      return { extensions: NOUNS.map(usage) };
    },
  });
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The envelope, or an empty object for a page. */
  json: Record<string, unknown> & { error?: { code: string; message: string; fields?: Record<string, string> } };
}

export class HttpFixture {
  private constructor(
    readonly harness: TestKernel,
    readonly server: HapiServer,
    readonly clock: ManualClock,
    readonly parts: Probe,
  ) {}

  static async open(
    options: {
      store?: DocumentStore;
      plugins?: readonly Plugin[];
      parts?: Partial<KernelParts>;
      limits?: Record<string, number>;
      /** Settings of plugins, by their ids. */
      sections?: Record<string, object>;
    } = {},
  ): Promise<HttpFixture> {
    const clock = new ManualClock();
    const into: Partial<Probe> = {};
    const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
    const server = new HapiServer({
      host: '127.0.0.1',
      port: 0,
      base_url: 'http://aos.test',
      trusted_proxies: [],
      limits: { json_bytes: 1 << 20, inflated_bytes: 8 << 20, ...OFF, ...options.limits },
      debug: false,
      version: '0',
      timezone: 'UTC',
      webDir: join(HERE, '../../../web'),
      helpers: createHelpers({ timezone: 'UTC', now: clock.now }),
      log,
      clock,
      ids,
      metrics: fakeMetrics,
    });
    const more = options.plugins ?? [];
    const missing = ABSENT_SCOPES.filter((scope) => !more.some(({ scopes = [] }) => scopes.includes(scope)));
    const harness = await bootTestKernel([access, projects, probe(into, missing), ...more], {
      store: options.store ?? new MemoryStore(),
      app: { shared_key: SHARED_KEY, base_url: 'http://aos.test', ...(options.limits && { limits: options.limits }) },
      sections: { auth: { admin_user: 'admin', admin_password: PASSWORD }, ...options.sections },
      parts: {
        http: server,
        clock,
        ids,
        cipher,
        hasher: new FakeHasher(),
        // The probe is made again for each.
        builtinTested: markValidated(more, 'web server'),
        ...options.parts,
      },
    });
    const fixture = new HttpFixture(harness, server, clock, into as Probe);
    await fixture.parts.ensureAdmin();
    return fixture;
  }

  /** A call of the API. */
  async api(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    bearer: string | null,
    body?: object,
  ): Promise<Answer> {
    const headers = {
      ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
      ...(body && { 'content-type': 'application/json' }),
    };
    const response = await this.server.inject({ method, url, headers, ...(body && { payload: JSON.stringify(body) }) });
    return answerOf(response);
  }

  async token(scopes: readonly string[], project: string | null = null): Promise<string> {
    return (await this.parts.tokens.issue({ kind: 'master', name: 'test', scopes, project, created_by: 'test' })).token;
  }

  browser(): Browser {
    return new Browser(this);
  }

  /** A browser that is signed in. */
  async signedIn(username = 'admin', password = PASSWORD): Promise<Browser> {
    const browser = this.browser();
    const answer = await browser.post('/login', { username, password });
    if (answer.status !== 303) throw new Error(`the login answered ${answer.status}`);
    return browser;
  }

  stop(): Promise<void> {
    return this.harness.stop();
  }
}

interface Injected {
  statusCode: number;
  headers: Record<string, unknown>;
  payload: string;
}

function answerOf(response: Injected): Answer {
  const headers = response.headers as Answer['headers'];
  const isJson = String(headers['content-type'] ?? '').startsWith('application/json');
  return {
    status: response.statusCode,
    headers,
    text: response.payload,
    json: isJson ? (JSON.parse(response.payload) as Answer['json']) : {},
  };
}

export class Browser {
  readonly cookies = new Map<string, string>();

  constructor(private readonly fixture: HttpFixture) {}

  async get(url: string): Promise<Answer> {
    return this.#send('GET', url, {});
  }

  /** Loads `from` for its form token, and posts the form. */
  async post(url: string, form: Record<string, string | string[]>, from = url): Promise<Answer> {
    const page = await this.get(from);
    const token = /name="csrf_token" value="([^"]+)"/.exec(page.text)?.[1];
    if (token === undefined) throw new Error(`${from} (${page.status}) has no form token`);
    const id = /name="form_id" value="([^"]+)"/.exec(page.text)?.[1];
    return this.raw(url, { ...form, csrf_token: token, ...(id !== undefined && { form_id: id }) });
  }

  /** The page with a secret that a form has led to. */
  async shown({ status, headers, text }: Answer): Promise<Answer> {
    const location = headers['location'];
    if (status !== 303 || typeof location !== 'string' || !location.startsWith('/shown/'))
      throw new Error(`nothing is shown once: ${status} ${text}`);
    return this.get(location);
  }

  /** Posts as it is. */
  async raw(url: string, form: Record<string, string | string[]>): Promise<Answer> {
    const body = new URLSearchParams();
    for (const [name, values] of Object.entries(form)) for (const value of [values].flat()) body.append(name, value);
    return this.#send('POST', url, { 'content-type': 'application/x-www-form-urlencoded' }, body.toString());
  }

  async #send(method: 'GET' | 'POST', url: string, headers: Record<string, string>, payload?: string): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await this.fixture.server.inject({
      method,
      url,
      headers: { ...headers, cookie },
      ...(payload !== undefined && { payload }),
    });
    const answer = answerOf(response);
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0\b/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}
