/**
 * A service in memory with the plugins of a test: the real kernel, the real web server without a
 * socket, the memory store, a clock that stands still, jobs that run when they are asked to.
 *
 * const service = await boot([stub(PROJECTS, { … }), plugin], { config: { chat: { room: 'ops' } }
 * }); const answer = await service.request('GET', '/api/chat/v1/notes', { as: { scopes:
 * ['chat:read'] } }); await service.stop();
 */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HapiServer } from '../../adapters/hapi/server.js';
import { MemoryStore } from '../../adapters/memory/store.js';
import { SqliteStore } from '../../adapters/sqlite/store.js';
import type { AppSettings, CommandCall, CommandResult, EventType, Plugin } from '../../kernel/contract/index.js';
import { Kernel } from '../../kernel/kernel.js';
import { AUTHENTICATOR } from '../../ports/domain/access.js';
import type { DomainEvent } from '../../ports/events.js';
import type { HttpLimits } from '../../ports/http/limits.js';
import type { HttpMethod } from '../../ports/http/index.js';
import type { Outbound } from '../../ports/outbound.js';
import type { Collection, Doc, DocumentStore } from '../../ports/store/index.js';
import { createHelpers } from '../../web/helpers/index.js';
import { TestAnswer } from './answer.js';
import type { ManualClock } from './clock.js';
import type { EnqueuedJob, FakeJobs, RecordingLog } from './fakes.js';
import { checkOutput } from './output-check.js';
import { createFakes, buildKernelParts } from './kernel-parts.js';
import {
  buildCredentialHeaders,
  getCsrfToken,
  PANELS_PATH,
  panelsPagePlugin,
  visitorsPlugin,
  type Visitor,
} from './visitors.js';

export interface BootOptions {
  /** Sections of the configuration, by plugin. */
  config?: Readonly<Record<string, unknown>>;
  app?: Partial<AppSettings>;
  /**
   * Default: an empty memory store. `embedded`: the embedded engine in a temporary folder, which
   * `stop` removes.
   */
  store?: DocumentStore | 'embedded';
  /** Answers requests that plugins send; by default they fail. */
  outbound?: Outbound['request'];
}

export interface Ask {
  /** Default `public`. */
  as?: Visitor;
  /** Sent as JSON. */
  body?: unknown;
  /** Fields of a page's form; its `csrf_token` is added. */
  form?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
}

function openStore(given: BootOptions['store'], folder: string | null): DocumentStore {
  if (folder !== null) return new SqliteStore({ path: join(folder, 'aos.db'), durability: 'normal', threads: false });
  return given === undefined || given === 'embedded' ? new MemoryStore() : given;
}

/** No rate limits; sizes are the defaults. */
const HTTP_LIMITS: HttpLimits = {
  json_bytes: 1_048_576,
  inflated_bytes: 8_388_608,
  intake_per_minute: 0,
  intake_burst: 0,
  api_per_minute: 0,
  bulk_per_minute: 0,
  auth_failures_per_minute: 0,
  public_per_minute: 0,
};

/**
 * Starts the plugins in the order of their dependencies. A plugin is given as an object, or as in
 * `plugins` of the configuration (a path from the working directory, a `file:` URL, a package).
 * @throws Error with the name and reason of every plugin that the service would reject or mark as
 *   failed
 */
export async function boot(plugins: readonly (Plugin | string)[], options: BootOptions = {}): Promise<TestService> {
  const service = new TestService(plugins, options);
  await service.start();
  return service;
}

export class TestService {
  readonly clock: ManualClock;
  readonly log: RecordingLog;
  readonly store: DocumentStore;
  /** All emitted events, oldest first. */
  readonly emitted: DomainEvent[] = [];
  readonly #kernel: Kernel;
  readonly #http: HapiServer;
  readonly #jobs: FakeJobs;
  readonly #folder: string | null;

  /** Creates a service without starting it; use `boot`. */
  constructor(plugins: readonly (Plugin | string)[], options: BootOptions) {
    const own = createFakes();
    const { clock, ids, log, jobs } = own;
    const parts = buildKernelParts(own, options.app);
    const { app } = parts.config;
    this.clock = clock;
    this.log = log;
    this.#folder = options.store === 'embedded' ? mkdtempSync(join(tmpdir(), 'aos-plugin-')) : null;
    this.store = openStore(options.store, this.#folder);
    this.#jobs = jobs;
    this.#http = new HapiServer({
      host: '127.0.0.1',
      port: 0,
      base_url: '',
      trusted_proxies: [],
      limits: HTTP_LIMITS,
      debug: false,
      version: app.version,
      timezone: app.timezone,
      webDir: join(import.meta.dirname, '..', '..', 'web'),
      helpers: createHelpers({ timezone: app.timezone, now: () => clock.now() }),
      log,
      clock,
      ids,
      metrics: parts.metrics,
    });
    const objects = plugins.filter((plugin) => typeof plugin !== 'string');
    const known = objects.some(({ provides }) => provides?.includes(AUTHENTICATOR.name) === true);
    this.#kernel = new Kernel({
      ...parts,
      config: { ...parts.config, sections: options.config ?? {} },
      store: this.store,
      http: this.#http,
      builtin: [...objects, panelsPagePlugin, ...(known ? [] : [visitorsPlugin])],
      plugins: plugins.filter((plugin) => typeof plugin === 'string'),
      bases: [process.cwd()],
      ...(options.outbound && { outbound: { ...parts.outbound, request: options.outbound } }),
    });
    this.#kernel.events.on('test', { event: '*', handle: (event) => void this.emitted.push(event) });
  }

  async start(): Promise<void> {
    await this.#kernel.boot('serve', { listen: false });
    const failed = this.#kernel.system.listPlugins().filter(({ state }) => state === 'failed');
    if (failed.length === 0) return;
    await this.stop();
    throw new Error(failed.map(({ id, reason }) => `plugin ${id} failed: ${reason}`).join('\n'));
  }

  /**
   * Sends a request without a socket.
   * @throws Error when a successful response does not match the route's `output`
   */
  async request<T = Record<string, unknown>>(method: HttpMethod, url: string, ask: Ask = {}): Promise<TestAnswer<T>> {
    const { as = 'public', body, form } = ask;
    const credential = buildCredentialHeaders(as);
    const cookie = credential['cookie'] ?? `svc_anon=${'a'.repeat(43)}`;
    const fields =
      form && new URLSearchParams({ csrf_token: getCsrfToken(cookie.slice(cookie.indexOf('=') + 1)), ...form });
    const { statusCode, headers, payload } = await this.#http.inject({
      method,
      url,
      headers: {
        ...credential,
        ...(fields && { cookie, 'content-type': 'application/x-www-form-urlencoded' }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...ask.headers,
      },
      ...(fields ? { payload: fields.toString() } : body !== undefined && { payload: JSON.stringify(body) }),
    });
    const answer = new TestAnswer<T>(statusCode, headers as TestAnswer['headers'], payload);
    checkOutput(this.#kernel.listRoutes(), { method, url, answer });
    return answer;
  }

  /** Returns the panels of every plugin, as HTML of the page that shows them. */
  async panels(as: 'admin' | 'member' = 'admin'): Promise<string> {
    return (await this.request('GET', PANELS_PATH, { as })).text;
  }

  /**
   * Emits an event of another plugin to all listeners. Returns false if a durable listener failed;
   * errors of listeners are in `log`.
   */
  emit<T>(
    { event }: EventType<T>,
    data: NoInfer<T>,
    more: Partial<Pick<DomainEvent, 'id' | 'timestamp' | 'project_slug'>> = {},
  ): Promise<boolean> {
    const id = `evt_test_${this.emitted.length + 1}`;
    return this.#kernel.events.emit({ id, timestamp: this.clock.iso(), project_slug: null, ...more, event, data });
  }

  /**
   * Runs a job such as `chat.sweep` to its end.
   * @throws the job's error, and Error when no such job exists
   */
  runJob(name: string, data: unknown = null): Promise<void> {
    return this.#jobs.run(name, data);
  }

  /**
   * Runs the jobs that are due, in order, including those that they enqueue. A job with `at`, or a
   * retry, waits until the clock is advanced to its time. Retries are delayed by 1 s, 2 s, 4 s and
   * so on, at most an hour.
   * @throws the error of a job's last attempt
   */
  async runQueue(): Promise<void> {
    const next = (): EnqueuedJob | undefined => this.#jobs.takeDue(this.clock.now());
    for (let job = next(); job !== undefined; job = next()) await this.#jobs.runEnqueued(job, this.clock.now());
  }

  /** Waiting jobs by full name, with `at`, `retry` and the attempt number. */
  get enqueued(): readonly EnqueuedJob[] {
    return this.#jobs.enqueued;
  }

  /**
   * Runs `aos <name> …` of a plugin.
   * @throws the command's error, and Error when no such command exists
   */
  async command(name: string, { args = [], options = {}, stdin }: Partial<CommandCall> = {}): Promise<CommandResult> {
    const commands = this.#kernel.listCommands();
    const found = commands.find(({ spec }) => spec.name === name);
    if (found === undefined)
      throw new Error(
        `command "${name}" does not exist; there are ${commands.map(({ spec }) => spec.name).join(', ') || 'none'}`,
      );
    return found.spec.run({ args, options, stdin: stdin ?? (() => Promise.resolve('')) });
  }

  /** Returns the result of every plugin's `health()`, keyed by plugin id. */
  health(): Promise<Record<string, { ok: boolean; [detail: string]: unknown }>> {
    return this.#kernel.system.checkHealth();
  }

  /** Returns a plugin's collection by its stored name, `chat_notes`. */
  collection<T extends Doc>(name: string): Collection<T> {
    return this.store.collection<T>(name);
  }

  /** Returns the openapi.json of the plugins' routes. */
  openapi(): Promise<object> {
    return this.#kernel.system.getOpenApi();
  }

  async stop(): Promise<void> {
    await this.#kernel.stop();
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true });
  }
}
