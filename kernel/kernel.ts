/**
 * Starts the plugins in phases and stops them in reverse. A non-critical plugin becomes
 * `failed(reason)`: its routes answer 503, and only plugins that need it fail too.
 */
import { hideTexts } from '../lib/text/hidden-texts.js';
import { SYSTEM, type SystemInfo } from '../ports/domain/system.js';
import type { MountedPage, MountedPanel, MountedRoute } from '../ports/http/index.js';
import type { Token } from '../ports/token.js';
import { ContainerScope } from './container.js';
import { createPluginContext, type SharedServices } from './context.js';
import { findSecrets } from './contract/joi.js';
import { NameRegistry } from './contributions/name-registry.js';
import { validateParts } from './contributions/parts-validator.js';
import { InProcessEvents } from './events.js';
import { BootStopped, PluginFaults, getFaultReason } from './faults.js';
import { loadPlugins } from './loading/loader.js';
import { bindParts } from './loading/error-attribution.js';
import { PluginLocks } from './locks.js';
import { conflict, notFound } from './errors.js';
import { Migrator, type MigrationOutcome } from './migrations/migrator.js';
import { collectMounted } from './mounted-parts.js';
import { guardJob } from './mounts.js';
import type { BootResult, KernelBootOptions, KernelParts, KernelMode, MountedCommand } from './kernel-parts.js';
import { PluginRun, ProvidedServices } from './plugin-run.js';
import { registerPlugins } from './plugin-registry.js';
import { BootReport } from './boot-report.js';
import { RunningPlugins } from './running-plugins.js';
import { ClockTrust } from './system/clock-trust.js';
import { provideSystem } from './system/system.js';
import { UndoStack } from './undo-stack.js';
import { findViewFaults } from './view-faults.js';

export type {
  BootResult,
  KernelBootOptions,
  KernelConfig,
  KernelParts,
  KernelMode,
  MountedCommand,
  SuppliedPorts,
} from './kernel-parts.js';

export class Kernel {
  readonly #services = new ProvidedServices();
  readonly #bus: InProcessEvents;
  readonly #report: BootReport;
  #stopServer: (() => Promise<void>) | null = null;
  readonly #undo: UndoStack;
  readonly #plugins: RunningPlugins;
  readonly #trust: ClockTrust;
  #migrator: Migrator | undefined;
  #address: string | null = null;
  #booting: Promise<BootResult> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(private readonly parts: KernelParts) {
    this.#bus = new InProcessEvents(parts.log);
    this.#report = new BootReport(parts.clock);
    this.#undo = new UndoStack(parts.log);
    this.#trust = new ClockTrust(parts);
    this.#plugins = new RunningPlugins({
      log: parts.log,
      report: this.#report,
      timeoutMs: () => parts.config.plugin_timeout_ms,
      stopping: () => this.#stopping !== undefined,
      retireJob: (name) => parts.jobs?.retire(name),
      failed: () => parts.pluginFailed?.(),
    });
  }

  /**
   * Starts everything; can be called once.
   * @throws PluginFaults before anything ran; CriticalPluginFailed, BootStopped, or an error of the
   *   store or the server
   */
  boot(mode: KernelMode = 'serve', options: KernelBootOptions = {}): Promise<BootResult> {
    this.#booting ??= this.#boot(mode, options).catch(async (error: unknown) => {
      await this.#undo.undoAfterFailure();
      throw error;
    });
    return this.#booting;
  }

  async #boot(
    mode: KernelMode,
    { listen = true, start = true, jobs = true, migrate = true }: KernelBootOptions,
  ): Promise<BootResult> {
    await this.#runPhase('manifests', () => this.#readManifests());
    await this.#runPhase('connect', () => this.#connect());
    if (migrate) await this.#runPhase('migrate', () => this.#migrate(mode));
    await this.#runPhase('set up', () => this.#setUp());
    if (mode === 'command' || !jobs) this.#drainAtStop();
    if (mode === 'serve') {
      await this.#runPhase('mount', () => this.#mount());
      if (start) await this.#runPhase('start', () => this.#start());
      if (listen) await this.#runPhase('listen', () => this.#listen());
      if (jobs) await this.#runPhase('jobs', () => this.#runJobs());
    }
    return this.#createBootResult(mode);
  }

  /**
   * Opens nothing.
   * @throws PluginFaults
   */
  async loadDeclarations(): Promise<Migrator['declared']> {
    await this.#readManifests();
    return (this.#migrator as Migrator).declared;
  }

  /** Reverse order, after running jobs and requests. Idempotent. */
  stop(): Promise<void> {
    this.#stopping ??= (async () => {
      await this.#booting?.catch(() => undefined);
      await this.#undo.undoAll();
    })();
    return this.#stopping;
  }

  get system(): SystemInfo {
    const system = this.findService(SYSTEM);
    if (system === undefined) throw new Error('the kernel has not loaded its plugins yet');
    return system;
  }

  findService<T>(token: Token<T>): T | undefined {
    return this.#services.get(token.name) as T | undefined;
  }

  listBuiltinIds(): string[] {
    return this.parts.builtin.map(({ id }) => id);
  }

  listCommands(): MountedCommand[] {
    return this.#plugins.listCommands();
  }

  listRoutes(): MountedRoute[] {
    return this.#plugins.listRoutes();
  }

  listPages(): MountedPage[] {
    return this.#plugins.listPages();
  }

  listPanels(): MountedPanel[] {
    return this.#plugins.listPanels();
  }

  get events(): InProcessEvents {
    return this.#bus;
  }

  formatReport(): string {
    return this.#report.toString();
  }

  async #runPhase(name: string, work: () => Promise<string | void>): Promise<void> {
    if (this.#stopping !== undefined) throw new BootStopped();
    await this.#report.runPhase(name, work);
  }

  async #readManifests(): Promise<string> {
    const { config, builtin, plugins: entries = [], bases = ['.'], store, http, clock, processes } = this.parts;
    const { freeBytes, unlistedProxies = () => [], peers = () => 1, builtinTested = false } = this.parts;
    const loaded = await loadPlugins(builtin, { ...config, entries, bases, builtinTested });
    if (loaded.untrusted.length > 0) throw new PluginFaults(loaded.untrusted);
    const { plugins: registered, off, broken, unoffered } = registerPlugins(loaded.plugins, config, loaded.unloaded);
    this.#plugins.broken = broken;
    hideTexts(
      registered.flatMap(({ manifest, config: own }) =>
        manifest.config === null ? [] : findSecrets(manifest.config, own),
      ),
    );
    for (const { state } of broken)
      this.parts.log.error({ plugin: state.id, reason: state.reason }, `plugin ${state.id} failed`);
    for (const where of unoffered)
      this.parts.log.warn(where, 'a plugin extends an extension point that no plugin provides');
    const runs = (this.#plugins.runs = registered.map((one) => new PluginRun(one)));
    this.#plugins.failThrown();
    const manifests = runs.map(({ manifest }) => manifest);
    const { version } = config.app;
    const migrator = (this.#migrator = new Migrator({ ...this.parts, version }, manifests));
    const absent = [...off, ...broken.map(({ state }) => state)];
    const system = {
      version,
      started_at: clock.iso(),
      store,
      runs,
      absent,
      processes,
      freeBytes,
      unlistedProxies,
      peers,
    };
    provideSystem(this.#services, { ...system, trust: this.#trust, migrator, http });
    return `${runs.length} plugins`;
  }

  async #connect(): Promise<string> {
    const { store, checkStore } = this.parts;
    this.#undo.push('store', () => store.close());
    await store.connect();
    await checkStore?.();
    return store.engine;
  }

  async #migrate(mode: KernelMode): Promise<string> {
    const { config, store, log } = this.parts;
    const migrator = this.#migrator as Migrator;
    const embedded = store.engine !== 'mongodb';
    if (!embedded && !(config.auto_migrate && mode === 'serve')) {
      const applied = await migrator.listApplied();
      this.#failUnmigrated(migrator.listRenamed(applied));
      const pending = await migrator.listPending(applied);
      if (pending.length > 0) log.warn({ pending }, 'migrations are pending: run `aos migrate`');
      return `${pending.length} pending`;
    }
    const { applied, failed } = await migrator.run();
    this.#failUnmigrated(failed);
    return `${applied.length} applied`;
  }

  /** @throws CriticalPluginFailed, or the kernel's own migration error */
  #failUnmigrated(failed: MigrationOutcome['failed']): void {
    for (const { plugin, id, error } of failed) {
      const run = this.#plugins.runs.find((one) => one.id === plugin);
      if (run === undefined) throw error;
      if (run.state !== 'failed')
        this.#plugins.fail(run, new Error(`migration ${id}: ${getFaultReason(error)}`, { cause: error }));
    }
  }

  /**
   * Its migrations run again at the next start.
   * @returns the ids of the deleted records
   * @throws ServiceError conflict for a built-in plugin, not_found
   */
  async forgetMigrations(plugin: string): Promise<string[]> {
    const builtin = this.parts.builtin.some(({ id }) => id === plugin) || plugin === 'kernel';
    if (builtin) throw conflict(`${plugin} is a built-in plugin: its migrations cannot be forgotten.`);
    const forgotten = await (this.#migrator as Migrator).forget(plugin);
    if (forgotten.length === 0) throw notFound(`migration of a plugin ${plugin}`);
    return forgotten;
  }

  handleUncaught(error: unknown): boolean {
    return this.#plugins.handleUncaught(error);
  }

  async #setUp(): Promise<void> {
    const { config, store, clock, ids } = this.parts;
    const shared: SharedServices = {
      app: config.app,
      ports: this.parts,
      store,
      services: this.#services,
      bus: this.#bus,
      locks: new PluginLocks({ store, clock, ids, processes: this.parts.processes }),
      root: ContainerScope.createRoot({ app: config.app }),
      extensions: (point) => this.#plugins.listExtensions(point),
      addedTo: (point) => this.#plugins.listAdditions(point),
    };
    const claims = new NameRegistry(this.#plugins.getScopes(), this.#plugins.getErrorCodes());
    await this.#plugins.runEach(async (run) => {
      const { plugin, views, tested } = run.registered;
      const returned = await this.#plugins.runWithin('setup', run, () =>
        plugin.setup(createPluginContext(run, shared)),
      );
      const { parts: own, faults } = validateParts(returned, run.manifest, { views, tested }, claims);
      const parts = bindParts(run.registered.entry, own);
      this.#plugins.setParts(run, parts);
      this.#undo.push(`plugin ${run.id}`, () => this.#stopPlugin(run));
      if (faults.length > 0) throw new Error(faults.join('; '));
      for (const name of run.manifest.provides) this.#services.provide(name, parts.services?.[name], run);
    });
    this.#connectListenersAndJobs();
  }

  /** Must precede all starts. */
  #connectListenersAndJobs(): void {
    const { jobs } = this.parts;
    this.#undo.push('events', () => this.#bus.waitUntilIdle());
    for (const run of this.#plugins.runs.filter(({ state }) => state !== 'failed')) {
      for (const listener of run.parts.listens ?? []) this.#bus.on(run.id, listener, () => run.state !== 'failed');
      try {
        for (const job of run.parts.jobs ?? []) jobs?.define(guardJob(job, run, this.#trust));
      } catch (error) {
        this.#plugins.fail(run, error);
      }
    }
  }

  async #mount(): Promise<string> {
    const { http } = this.parts;
    for (const { run, faults } of http === undefined ? [] : findViewFaults(this.#plugins, http)) {
      if (faults.length > 0) this.#plugins.fail(run, new Error(faults.join('; ')));
    }
    const mounted = collectMounted(this.#plugins, (token) => this.findService(token), this.parts);
    await http?.mount(mounted);
    return `${mounted.routes.length} routes, ${mounted.pages.length} pages`;
  }

  async #start(): Promise<void> {
    this.#undo.push('clock', await this.#trust.watch());
    await this.#plugins.runEach(async (run) => {
      await this.#plugins.runWithin('start', run, () => run.parts.start?.());
      run.state = 'ready';
    });
  }

  async #listen(): Promise<string> {
    const { http, config } = this.parts;
    if (http === undefined) return 'no server';
    let stopped: Promise<void> | null = null;
    this.#stopServer = () => (stopped ??= http.stop(config.stop_timeout_ms ?? 10_000));
    this.#undo.push('http', this.#stopServer);
    this.#address = await http.start();
    return this.#address;
  }

  async #runJobs(): Promise<string> {
    this.#drainAtStop();
    await this.parts.jobs?.start();
    return `${this.#plugins.runs.flatMap((run) => run.parts.jobs ?? []).length} defined`;
  }

  /**
   * Registered last in `serve`, so that it runs first on stop. The server stops listening
   * immediately, and requests finish concurrently with the jobs (contract 95, shutdown).
   */
  #drainAtStop(): void {
    const { jobs, config } = this.parts;
    if (jobs === undefined) return;
    const drain = (): Promise<void> => jobs.drain(config.stop_timeout_ms ?? 10_000);
    this.#undo.push('jobs', async () => void (await Promise.all([this.#stopServer?.(), drain()])));
  }

  #createBootResult(mode: KernelMode): BootResult {
    const { log } = this.parts;
    if (mode === 'command') for (const run of this.#plugins.runs) if (run.state === 'starting') run.state = 'ready';
    const failed = this.#plugins.listFailed();
    const { ms } = this.#report;
    log.debug({ report: this.formatReport() }, 'boot report');
    if (mode === 'serve') log.info({ address: this.#address, plugins: this.#plugins.runs.length, failed, ms }, 'ready');
    return { address: this.#address, ms };
  }

  async #stopPlugin(run: PluginRun): Promise<void> {
    await this.#plugins.stop(run);
    await this.#bus.waitUntilIdle();
  }
}
