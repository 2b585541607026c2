/**
 * The running plugins. A critical plugin's failure ends the start; otherwise only the plugins that
 * need the failed one fail with it.
 */
import type { MountedHosts, MountedPage, MountedPanel, MountedRoute } from '../ports/http/index.js';
import type { Logger } from '../ports/logger.js';
import type { BrokenPlugin } from './loading/broken-plugins.js';
import { CODES, type ErrorCatalog } from './errors.js';
import { BootStopped, CriticalPluginFailed, getFaultReason } from './faults.js';
import { findRoutePaths } from './loading/source-faults.js';
import { findThrowingPlugin, getEarlyError, recordEarlyError, runInPlugin } from './loading/error-attribution.js';
import { BUILT_IN } from './manifest.js';
import { mountPages, mountPanels, mountRoutes } from './mounts.js';
import type { Addition } from './contract/ports.js';
import type { MountedCommand } from './kernel-parts.js';
import type { PluginRun } from './plugin-run.js';
import type { BootReport } from './boot-report.js';
import { runWithTimeout } from './timeout.js';

export interface PluginsOptions {
  log: Logger;
  report: BootReport;
  timeoutMs: () => number;
  stopping: () => boolean;
  retireJob: (name: string) => void;
  failed: () => void;
}

export class RunningPlugins {
  runs: readonly PluginRun[] = [];
  broken: readonly BrokenPlugin[] = [];
  readonly #extensions = new Map<string, readonly unknown[]>();

  constructor(private readonly options: PluginsOptions) {}

  /** Runs `work` for each plugin in order. */
  async runEach(work: (run: PluginRun) => Promise<void>): Promise<void> {
    for (const run of this.runs) {
      if (this.options.stopping()) throw new BootStopped();
      if (run.state === 'failed') continue;
      await this.options.report.runStep(run.id, async () => {
        try {
          this.#requireProviders(run);
          await work(run);
          return '';
        } catch (error) {
          this.fail(run, error);
          return `failed: ${run.reason}`;
        }
      });
    }
  }

  #requireProviders(run: PluginRun): void {
    const lost = this.runs.find(
      (other) => other.state === 'failed' && other.manifest.provides.some((name) => run.manifest.needs.includes(name)),
    );
    if (lost === undefined) return;
    const token = lost.manifest.provides.find((name) => run.manifest.needs.includes(name));
    throw new Error(`needs "${token}" of plugin ${lost.id}, which failed: ${lost.reason}`);
  }

  /** @throws CriticalPluginFailed */
  fail(run: PluginRun, error: unknown): void {
    const reason = getFaultReason(error);
    run.fail(reason);
    this.#extensions.clear();
    for (const { name } of run.parts.jobs ?? []) this.options.retireJob(name);
    this.options.log.error({ err: error, plugin: run.id }, `plugin ${run.id} failed`);
    this.options.failed();
    if (run.manifest.critical) throw new CriticalPluginFailed(run.id, reason, error);
  }

  /** @throws CriticalPluginFailed */
  failById(id: string, error: unknown): void {
    const run = this.runs.find((one) => one.id === id);
    if (run !== undefined) this.fail(run, error);
  }

  /**
   * For example in a timer of their module.
   * @throws CriticalPluginFailed
   */
  failThrown(): void {
    for (const run of this.runs) {
      const thrown = getEarlyError(run.registered.entry);
      if (thrown !== null) this.fail(run, thrown.error);
    }
  }

  /**
   * The plugin's code threw outside of a call.
   * @returns false when the service cannot continue
   */
  handleUncaught(error: unknown): boolean {
    const entry = findThrowingPlugin(error);
    if (entry === null) return false;
    const run = this.runs.find(({ registered }) => registered.entry === entry);
    if (run?.manifest.critical === true) return false;
    if (run === undefined) recordEarlyError(error);
    if (run !== undefined && run.state !== 'failed') this.fail(run, error);
    else this.options.log.error({ err: error, plugin: run?.id ?? entry }, `plugin ${run?.id ?? entry} threw an error`);
    return true;
  }

  /** Except what other plugins serve. */
  listUnavailablePaths(): string[] {
    const failed = this.runs.filter(({ state, registered }) => state === 'failed' && registered.entry !== BUILT_IN);
    const down = [
      ...this.broken.map(({ state, module }) => ({ id: state.id, module })),
      ...failed.map(({ id, registered }) => ({ id, module: registered.module })),
    ];
    const own = down.flatMap(({ id }) => (/^[a-z][a-z0-9]*$/.test(id) ? [`/api/${id}`, `/${id}`] : []));
    const named = down.flatMap(({ module }) => (module === null ? [] : findRoutePaths(module)));
    const trimmed = [...own, ...named].map((path) => path.replace(/\/+$/, ''));
    const served = this.#listServedPaths();
    return [...new Set(trimmed)].filter(
      (path) => path !== '' && path !== '/api' && !served.some((other) => `${other}/`.startsWith(`${path}/`)),
    );
  }

  #listServedPaths(): string[] {
    const running = this.runs.filter(({ state }) => state !== 'failed');
    const routes = running.flatMap(({ parts }) => parts.routes ?? []);
    const pages = running.flatMap(({ parts }) => parts.pages ?? []);
    return [...routes, ...pages].map(({ path }) => path).concat(routes.flatMap(({ aliases = [] }) => aliases));
  }

  runWithin<T>(what: string, run: PluginRun, work: () => T | Promise<T>): Promise<T> {
    const { log, timeoutMs } = this.options;
    return runWithTimeout(
      timeoutMs(),
      what,
      () => runInPlugin(run.registered.entry, work),
      (outcome) =>
        log.warn(
          { plugin: run.id, outcome: outcome.status },
          `${what} of plugin ${run.id} finished after its timeout and is ignored`,
        ),
    );
  }

  async stop(run: PluginRun): Promise<void> {
    try {
      await this.runWithin('stop', run, () => run.parts.stop?.());
    } finally {
      if (run.state !== 'failed') run.state = 'stopped';
    }
  }

  setParts(run: PluginRun, parts: PluginRun['parts']): void {
    run.parts = parts;
    this.#extensions.clear();
  }

  /** Some points are read for every report. */
  listExtensions(point: string): readonly unknown[] {
    let found = this.#extensions.get(point);
    if (found === undefined) {
      found = this.listAdditions(point).map(({ value }) => value);
      this.#extensions.set(point, found);
    }
    return found;
  }

  listAdditions(point: string): Addition<unknown>[] {
    const there = this.runs.filter(({ state }) => state !== 'failed');
    return there.flatMap(({ id, parts }) =>
      (parts.extensions ?? []).filter((one) => one.point === point).map(({ value }) => ({ plugin: id, value })),
    );
  }

  getErrorCodes(): ErrorCatalog {
    return Object.assign({}, CODES, ...this.runs.map(({ manifest }) => manifest.errors)) as ErrorCatalog;
  }

  getScopes(): ReadonlySet<string> {
    return new Set(this.runs.flatMap(({ manifest }) => manifest.scopes));
  }

  listFailed(): string[] {
    return [
      ...this.broken.map(({ state }) => state.id),
      ...this.runs.filter(({ state }) => state === 'failed').map(({ id }) => id),
    ];
  }

  listRoutes(): MountedRoute[] {
    return this.runs.flatMap(mountRoutes);
  }

  listPages(): MountedPage[] {
    return this.runs.flatMap((run) => mountPages(run, this.options.log));
  }

  listPanels(): MountedPanel[] {
    return this.runs.flatMap((run) => mountPanels(run, this.options.log));
  }

  listHosts(): MountedHosts[] {
    return this.runs.flatMap(({ id, parts: { hosts } }) => (hosts === undefined ? [] : [{ plugin: id, hosts }]));
  }

  listCommands(): MountedCommand[] {
    return this.runs.flatMap((run) =>
      (run.parts.commands ?? []).map((spec) => ({ plugin: run.id, spec, reason: run.reason })),
    );
  }
}
