import type { Clock } from '../../ports/clock.js';
import type { ListenSpec } from '../../ports/events.js';
import type { CustomHosts, PageSpec, PanelSpec, RouteSpec } from '../../ports/http/index.js';
import type { Ids } from '../../ports/ids.js';
import type { JobSpec } from '../../ports/jobs.js';
import type { Logger } from '../../ports/logger.js';
import type { Ports } from '../../ports/ports.js';
import type { Collection, Doc, Transact } from '../../ports/store/index.js';
import type { Extension, ExtensionPoint, Token } from '../../ports/token.js';
import type { Instances } from '../container.js';
import type { Class, Key } from '../inject.js';
import type { HeldLock } from '../locks.js';
import type { CommandSpec } from './command.js';
import type { Manifest } from './manifest.js';
import type { AppSettings } from './ports.js';

/** Plugins built for another version are rejected. */
export const PLUGIN_API = 1;

export interface HealthResult {
  ok: boolean;
  [detail: string]: unknown;
}

/** What a plugin contributes. */
export interface PluginParts {
  routes?: readonly RouteSpec[];
  pages?: readonly PageSpec[];
  panels?: readonly PanelSpec[];
  hosts?: CustomHosts;
  jobs?: readonly JobSpec[];
  listens?: readonly ListenSpec[];
  commands?: readonly CommandSpec[];
  /** Provided services by token name; exactly the manifest's `provides`. */
  services?: Readonly<Record<string, unknown>>;
  /** Created by `extend(point, value)`. */
  extensions?: readonly Extension[];
  health?: () => Promise<HealthResult>;
  start?: () => Promise<void>;
  stop?: () => Promise<void>;
}

export interface PluginContext<C = Record<string, unknown>> {
  config: C;
  app: AppSettings;
  log: Logger;
  clock: Clock;
  ids: Ids;
  ports: Ports;
  /** Stored as `<plugin>_<name>`. */
  collection<T extends Doc>(name: string): Collection<T>;
  /**
   * Writes to several of the plugin's collections atomically. Null if the store has no transactions
   * (MongoDB); such plugins need an alternative (docs/consistency.md).
   */
  readonly transact: Transact | null;
  resolve<T>(token: Token<T>): T;
  /**
   * Returns a service that the manifest `uses`, looked up at each call. Undefined if its plugin is
   * not installed, is switched off or has failed.
   */
  find<T>(token: Token<T>): T | undefined;
  extensions<T>(point: ExtensionPoint<T>): readonly T[];
  /** Creates one instance of each `@injectable()` class. */
  services<R extends Readonly<Record<string, Class<unknown>>>>(classes: R): Instances<R>;
  bind<T>(key: Key<T>, value: T): void;
  /**
   * Runs `work` while holding the plugin's lock of this name, across processes and calls. Returns
   * null when it is held elsewhere. The lock lasts until `work` ends, and expires within 30 s of a
   * killed process.
   * @throws LeaseLost when the lock was lost (`signal` has aborted: another process may have
   *   started), and what `work` throws
   */
  lock<T>(name: string, work: (held: HeldLock) => Promise<T>): Promise<{ result: T } | null>;
  /**
   * Returns false when a durable listener failed: keep the event in the outbox and emit it again
   * with the same `id` (ports/events.ts).
   */
  emit(
    event: string,
    data: unknown,
    options?: { id?: string; timestamp?: string; project_slug?: string | null },
  ): Promise<boolean>;
}

export interface Plugin<C = Record<string, unknown>> extends Manifest {
  /** Folder of its views. */
  from?: string;
  setup(ctx: PluginContext<C>): PluginParts | Promise<PluginParts>;
}

/** Types a plugin's definition; a plain object works too. */
export function definePlugin<C = Record<string, unknown>>(plugin: Plugin<C>): Plugin {
  return plugin as unknown as Plugin;
}
