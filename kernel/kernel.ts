/**
 * The kernel: starts the plugins in phases and stops them in reverse. It knows no domain; what it knows of a plugin is
 * its manifest and what its `setup` returned.
 *
 * A critical plugin's failure ends the start with its name and reason. Another's makes it `failed(reason)`: its routes
 * answer 503, plugins that need what it provides fail with the same reason, and everything else runs.
 */
import { AUTHENTICATOR, FORM_MEMORY } from '../ports/domain/access.js';
import { SYSTEM, type SystemInfo } from '../ports/domain/system.js';
import { STORAGE_SPACE } from '../ports/domain/health.js';
import type { Authenticator, MountedPage, MountedPanel, MountedRoute } from '../ports/http.js';
import type { JobSpec } from '../ports/jobs.js';
import type { Token } from '../ports/token.js';
import { Scope } from './container.js';
import { contextOf, type Shared } from './context.js';
import { Claims, judgeParts } from './contributions.js';
import { CODES, type Catalogue } from './errors.js';
import { InProcessEvents } from './events.js';
import { BootStopped, CriticalPluginFailed, reasonOf } from './faults.js';
import { loadPlugins } from './loading/loader.js';
import { Locks } from './locks.js';
import { sourceFaults } from './loading/sources.js';
import { BUILT_IN } from './manifest.js';
import { Migrator } from './migrator.js';
import { pagesOf, panelsOf, routesOf } from './mounts.js';
import type { Booted, BootOptions, KernelParts, Mode, MountedCommand } from './parts.js';
import { PluginRun, Services } from './plugin-run.js';
import { register } from './registry.js';
import { BootReport } from './report.js';
import { KernelSystem } from './system.js';
import { within } from './timeout.js';

export type { Booted, BootOptions, KernelConfig, KernelParts, Mode, MountedCommand } from './parts.js';

/** For everything that a failed start has opened. */
const GIVE_UP_MS = 3_000;

export class Kernel {
  readonly #services = new Services();
  readonly #bus: InProcessEvents;
  readonly #report: BootReport;
  /** Once; there when the server listens. */
  #stopServer: (() => Promise<void>) | null = null;
  readonly #undo: { name: string; run: () => Promise<void> }[] = [];
  #runs: readonly PluginRun[] = [];
  readonly #extensions = new Map<string, readonly unknown[]>();
  #migrator: Migrator | undefined;
  #address: string | null = null;
  #booting: Promise<Booted> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(private readonly parts: KernelParts) {
    this.#bus = new InProcessEvents(parts.log);
    this.#report = new BootReport(parts.clock);
  }

  /**
   * Starts everything; once. When it fails, what was started is stopped again before the error comes out.
   * @throws PluginFaults before anything ran; CriticalPluginFailed, BootStopped, or what the store or the server said.
   */
  boot(mode: Mode = 'serve', options: BootOptions = {}): Promise<Booted> {
    this.#booting ??= this.#boot(mode, options).catch(async (error: unknown) => {
      await this.#giveUp();
      throw error;
    });
    return this.#booting;
  }

  async #boot(mode: Mode, { listen = true, jobs = true, migrate = true }: BootOptions): Promise<Booted> {
    await this.#phase('manifests', () => this.#readManifests());
    await this.#phase('connect', () => this.#connect());
    if (migrate) await this.#phase('migrate', () => this.#migrate(mode));
    await this.#phase('set up', () => this.#setUp());
    if (mode === 'command' || !jobs) this.#drainAtStop();
    if (mode === 'serve') {
      await this.#phase('mount', () => this.#mount());
      await this.#phase('start', () => this.#start());
      if (listen) await this.#phase('listen', () => this.#listen());
      if (jobs) await this.#phase('jobs', () => this.#runJobs());
    }
    return this.#booted(mode);
  }

  /** Reads the plugins and judges them with their configuration; nothing is opened or started. @throws PluginFaults */
  async examine(): Promise<void> {
    await this.#readManifests();
  }

  /** Stops what runs, in reverse: jobs and requests under way are finished first. Once; also during and after a failed start. */
  stop(): Promise<void> {
    this.#stopping ??= (async () => {
      await this.#booting?.catch(() => undefined);
      await this.#tearDown();
    })();
    return this.#stopping;
  }

  /** What `kernel.system` says; after the manifests were read. */
  get system(): SystemInfo {
    const system = this.service(SYSTEM);
    if (system === undefined) throw new Error('the kernel has not read its plugins yet');
    return system;
  }

  /** A provided service, as `ctx.find` sees it. */
  service<T>(token: Token<T>): T | undefined {
    return this.#services.get(token.name) as T | undefined;
  }

  commands(): MountedCommand[] {
    return this.#runs.flatMap((run) =>
      (run.parts.commands ?? []).map((spec) => ({ plugin: run.id, spec, reason: run.reason })),
    );
  }

  routes(): MountedRoute[] {
    return this.#runs.flatMap(routesOf);
  }

  pages(): MountedPage[] {
    return this.#runs.flatMap((run) => pagesOf(run, this.parts.log));
  }

  panels(): MountedPanel[] {
    return this.#runs.flatMap((run) => panelsOf(run, this.parts.log));
  }

  /** The bus, for tests and for tools that watch. */
  get events(): InProcessEvents {
    return this.#bus;
  }

  /** The phases of the start with their times. */
  report(): string {
    return this.#report.toString();
  }

  async #phase(name: string, work: () => Promise<string | void>): Promise<void> {
    if (this.#stopping !== undefined) throw new BootStopped();
    await this.#report.phase(name, work);
  }

  async #readManifests(): Promise<string> {
    const { config, builtin, plugins = [], bases = ['.'], store, http, clock, processes, freeBytes } = this.parts;
    const { unlistedProxies = () => [] } = this.parts;
    const loaded = await loadPlugins(builtin, { entries: plugins, bases, timeoutMs: config.plugin_timeout_ms });
    const { plugins: registered, off, unoffered } = register(loaded.plugins, config, loaded.faults);
    for (const where of unoffered)
      this.parts.log.warn(where, 'a plugin adds to an extension point that no plugin offers');
    this.#runs = registered.map((one) => new PluginRun(one));
    this.#migrator = new Migrator(
      this.parts,
      this.#runs.map(({ manifest }) => manifest),
    );
    const system = new KernelSystem({
      version: config.app.version,
      started_at: clock.iso(),
      store,
      http,
      runs: this.#runs,
      off,
      migrator: this.#migrator,
      processes,
      freeBytes,
      unlistedProxies,
    });
    this.#services.provide(SYSTEM.name, system, null);
    return `${this.#runs.length} plugins`;
  }

  async #connect(): Promise<string> {
    const { store, checkStore } = this.parts;
    this.#undo.push({ name: 'store', run: () => store.close() });
    await store.connect();
    await checkStore?.();
    return store.engine;
  }

  async #migrate(mode: Mode): Promise<string> {
    const { config, store, log } = this.parts;
    const migrator = this.#migrator as Migrator;
    const embedded = store.engine !== 'mongodb';
    if (!embedded && !(config.auto_migrate && mode === 'serve')) {
      const pending = await migrator.pending();
      if (pending.length > 0) log.warn({ pending }, 'migrations are pending: run `aos migrate`');
      return `${pending.length} pending`;
    }
    const { applied, failed } = await migrator.run();
    for (const { plugin, id, error } of failed) {
      const run = this.#runs.find((one) => one.id === plugin);
      if (run === undefined) throw error;
      this.#fail(run, new Error(`migration ${id}: ${reasonOf(error)}`, { cause: error }));
    }
    return `${applied.length} applied`;
  }

  async #setUp(): Promise<void> {
    const { config, store, jobs } = this.parts;
    const { clock, ids, log, hasher, cipher, outbound, metrics, releaseStore, installers, signers } = this.parts;
    const ports = { clock, ids, log, hasher, cipher, outbound, metrics, releaseStore, installers, signers };
    const root = Scope.root({ ...ports, app: config.app });
    const shared: Shared = {
      app: config.app,
      ports,
      jobs,
      store,
      services: this.#services,
      bus: this.#bus,
      locks: new Locks({ store, clock, ids, processes: this.parts.processes }),
      root,
      extensions: (point) => this.#extensionsOf(point),
    };
    const claims = new Claims(new Set(this.#runs.flatMap(({ manifest }) => manifest.scopes)), this.#codes());
    await this.#each(async (run) => {
      const { plugin, views } = run.registered;
      const returned = await this.#within('setup', run, () => plugin.setup(contextOf(run, shared)));
      const { parts, faults } = judgeParts(returned, run.manifest, views, claims);
      run.parts = parts;
      this.#extensions.clear();
      this.#undo.push({ name: `plugin ${run.id}`, run: () => this.#stopPlugin(run) });
      if (faults.length > 0) throw new Error(faults.join('; '));
      for (const name of run.manifest.provides) this.#services.provide(name, parts.services?.[name], run);
    });
    this.#connectListenersAndJobs();
  }

  /** Before anything starts: an event of the first start must find every listener. */
  #connectListenersAndJobs(): void {
    const { jobs } = this.parts;
    this.#undo.push({ name: 'events', run: () => this.#bus.idle() });
    for (const run of this.#runs) {
      for (const listener of run.parts.listens ?? []) this.#bus.on(run.id, listener, () => run.state !== 'failed');
      try {
        for (const job of run.parts.jobs ?? []) jobs?.define(this.#guarded(job, run));
      } catch (error) {
        this.#fail(run, error);
      }
    }
  }

  /** Some points are asked for with every report, so the answer is kept until a plugin contributes or fails. */
  #extensionsOf(point: string): readonly unknown[] {
    let found = this.#extensions.get(point);
    if (found === undefined) {
      const there = this.#runs.filter(({ state }) => state !== 'failed').flatMap(({ parts }) => parts.extensions ?? []);
      found = there.filter((extension) => extension.point === point).map(({ value }) => value);
      this.#extensions.set(point, found);
    }
    return found;
  }

  #guarded(job: JobSpec, run: PluginRun): JobSpec {
    return {
      ...job,
      run: async (call) => {
        if (!run.ready())
          throw new Error(`plugin ${run.id} is ${run.state}${run.reason === null ? '' : `: ${run.reason}`}`);
        try {
          await job.run(call);
        } catch (err) {
          this.parts.log.error({ err, plugin: run.id, job: job.name }, 'a job failed');
          throw err;
        }
      },
    };
  }

  /** What plugins name and nobody has, before a visitor finds it. */
  #judge(): void {
    const { http, judgeBuiltin = false } = this.parts;
    if (http === undefined) return;
    const judged = this.#runs.filter(
      ({ state, registered }) => state !== 'failed' && (judgeBuiltin || registered.entry !== BUILT_IN),
    );
    if (judged.length === 0) return;
    const parts = { pages: this.pages(), panels: this.panels() };
    const faults = http.faults(parts, new Set(judged.map(({ id }) => id)));
    for (const run of judged) {
      const { module, views } = run.registered;
      const jobs = (run.parts.jobs ?? []).map(({ name }) => name.slice(run.id.length + 1));
      const found = [
        ...(module === null ? [] : sourceFaults(module, views, run.id, jobs)),
        ...faults.filter(({ plugin }) => plugin === run.id).map(({ fault }) => fault),
      ];
      if (found.length > 0) this.#fail(run, new Error(found.join('; ')));
    }
  }

  async #mount(): Promise<string> {
    this.#judge();
    const authenticator = this.service(AUTHENTICATOR) ?? this.#noAuthenticator();
    const space = this.service(STORAGE_SPACE) ?? null;
    const forms = this.service(FORM_MEMORY) ?? null;
    const parts = { routes: this.routes(), pages: this.pages(), panels: this.panels() };
    const mounted = { ...parts, codes: this.#codes(), authenticator, forms, space };
    await this.parts.http?.mount(mounted);
    return `${mounted.routes.length} routes, ${mounted.pages.length} pages`;
  }

  /** Every error code: the service's, and what the manifests declare. */
  #codes(): Catalogue {
    return Object.assign({}, CODES, ...this.#runs.map(({ manifest }) => manifest.errors)) as Catalogue;
  }

  /** Without an access plugin no credential is known, so only public routes open. */
  #noAuthenticator(): Authenticator {
    this.parts.log.warn({}, 'no plugin provides access.authenticator: no credential will be accepted');
    const { ids } = this.parts;
    return { bearer: async () => null, session: async () => null, csrf: () => ids.secret() };
  }

  async #start(): Promise<void> {
    await this.#each(async (run) => {
      await this.#within('start', run, () => run.parts.start?.());
      run.state = 'ready';
    });
  }

  async #listen(): Promise<string> {
    const { http, config } = this.parts;
    if (http === undefined) return 'no server';
    let stopped: Promise<void> | null = null;
    this.#stopServer = () => (stopped ??= http.stop(config.stop_timeout_ms ?? 10_000));
    this.#undo.push({ name: 'http', run: this.#stopServer });
    this.#address = await http.start();
    return this.#address;
  }

  async #runJobs(): Promise<string> {
    this.#drainAtStop();
    await this.parts.jobs?.start();
    return `${this.#runs.flatMap((run) => run.parts.jobs ?? []).length} defined`;
  }

  /**
   * Last of all in `serve`, so that it is the first to be taken back; elsewhere for jobs that were run by hand. The server
   * stops listening at once, and requests finish beside the jobs (contract 95, shutdown).
   */
  #drainAtStop(): void {
    const { jobs, config } = this.parts;
    if (jobs === undefined) return;
    const drain = (): Promise<void> => jobs.drain(config.stop_timeout_ms ?? 10_000);
    this.#undo.push({ name: 'jobs', run: async () => void (await Promise.all([this.#stopServer?.(), drain()])) });
  }

  #booted(mode: Mode): Booted {
    const { log } = this.parts;
    if (mode === 'command') for (const run of this.#runs) if (run.state === 'starting') run.state = 'ready';
    const failed = this.#runs.filter(({ state }) => state === 'failed').map(({ id }) => id);
    const { ms } = this.#report;
    log.debug({ report: this.report() }, 'boot report');
    if (mode === 'serve') log.info({ address: this.#address, plugins: this.#runs.length, failed, ms }, 'ready');
    return { address: this.#address, ms };
  }

  /** Plugin by plugin, in order. One that fails, or whose provider has failed, is out; the others go on. */
  async #each(work: (run: PluginRun) => Promise<void>): Promise<void> {
    for (const run of this.#runs) {
      if (this.#stopping !== undefined) throw new BootStopped();
      if (run.state === 'failed') continue;
      await this.#report.step(run.id, async () => {
        try {
          this.#refuseOrphan(run);
          await work(run);
          return '';
        } catch (error) {
          this.#fail(run, error);
          return `failed: ${run.reason}`;
        }
      });
    }
  }

  #refuseOrphan(run: PluginRun): void {
    const lost = this.#runs.find(
      (other) => other.state === 'failed' && other.manifest.provides.some((name) => run.manifest.needs.includes(name)),
    );
    if (lost === undefined) return;
    const token = lost.manifest.provides.find((name) => run.manifest.needs.includes(name));
    throw new Error(`needs "${token}" of plugin ${lost.id}, which failed: ${lost.reason}`);
  }

  #fail(run: PluginRun, error: unknown): void {
    const reason = reasonOf(error);
    run.fail(reason);
    this.#extensions.clear();
    this.parts.log.error({ err: error, plugin: run.id }, `plugin ${run.id} failed`);
    if (run.manifest.critical) throw new CriticalPluginFailed(run.id, reason, error);
  }

  #within<T>(what: string, run: PluginRun, work: () => T | Promise<T>): Promise<T> {
    const { config, log } = this.parts;
    return within(config.plugin_timeout_ms, what, work, (outcome) =>
      log.warn(
        { plugin: run.id, outcome: outcome.status },
        `${what} of plugin ${run.id} ended after its time and is ignored`,
      ),
    );
  }

  async #stopPlugin(run: PluginRun): Promise<void> {
    try {
      await this.#within('stop', run, () => run.parts.stop?.());
    } finally {
      if (run.state !== 'failed') run.state = 'stopped';
    }
    await this.#bus.idle();
  }

  /** After a failed start: what does not close in time must not hide the reason. */
  async #giveUp(): Promise<void> {
    const { log } = this.parts;
    try {
      await within(GIVE_UP_MS, 'closing after a failed start', () => this.#tearDown());
    } catch (err) {
      log.error({ err }, 'what the failed start had opened did not close');
    }
  }

  /** Takes back what was done, last first. A part that cannot stop is logged and does not keep the others running. */
  async #tearDown(): Promise<void> {
    for (let part = this.#undo.pop(); part !== undefined; part = this.#undo.pop()) {
      try {
        await part.run();
      } catch (err) {
        this.parts.log.error({ err, part: part.name }, 'a part did not stop cleanly');
      }
    }
  }
}
