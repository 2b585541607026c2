/** A plugin: its manifest, and the `setup` that gives its parts for what the service gives it. */
import type { Clock } from '../../ports/clock.js';
import type { ListenSpec } from '../../ports/events.js';
import type { OwnHosts, PageSpec, PanelSpec, RouteSpec } from '../../ports/http.js';
import type { Ids } from '../../ports/ids.js';
import type { JobSpec } from '../../ports/jobs.js';
import type { Logger } from '../../ports/logger.js';
import type { Ports } from '../../ports/ports.js';
import type { Collection, Doc, Transact } from '../../ports/store.js';
import type { Extension, ExtensionPoint, Token } from '../../ports/token.js';
import type { Instances } from '../container.js';
import type { Class, Key } from '../inject.js';
import type { LockHeld } from '../locks.js';
import type { CommandSpec } from './command.js';
import type { Manifest } from './manifest.js';
import type { AppSettings } from './ports.js';

/** The version of this contract. A plugin made for another one is refused, with both numbers. */
export const PLUGIN_API = 1;

export interface HealthResult {
  ok: boolean;
  [detail: string]: unknown;
}

/** What a plugin contributes. It calls no server: a test calls any part without HTTP. */
export interface PluginParts {
  routes?: readonly RouteSpec[];
  pages?: readonly PageSpec[];
  panels?: readonly PanelSpec[];
  /** Hosts that show one of its shared pages and nothing else. */
  hosts?: OwnHosts;
  jobs?: readonly JobSpec[];
  listens?: readonly ListenSpec[];
  commands?: readonly CommandSpec[];
  /** What it provides, by token name; exactly the manifest's `provides`. */
  services?: Readonly<Record<string, unknown>>;
  /** What it adds to the extension points that its manifest `extends`; made by `extend(point, value)`. */
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
  /** The ports of every plugin, and those of the manifest's `ports`. */
  ports: Ports;
  /** One of the collections in the manifest, stored as `<plugin>_<name>`. */
  collection<T extends Doc>(name: string): Collection<T>;
  /**
   * Writes of several of the plugin's collections, by their names in the manifest, that happen all or not at all. Null
   * where the store has no transactions (MongoDB): such a plugin has another way too (docs/consistency.md).
   */
  readonly transact: Transact | null;
  /** A service that the manifest `needs`. */
  resolve<T>(token: Token<T>): T;
  /**
   * A service that the manifest `uses`: asked when it is used, not at setup. Undefined when its plugin is not
   * installed, switched off, or has failed.
   */
  find<T>(token: Token<T>): T | undefined;
  /**
   * What others have added to an extension point of this manifest; asked when it is used. Of plugins that have not
   * failed.
   */
  extensions<T>(point: ExtensionPoint<T>): readonly T[];
  /**
   * One instance of each `@injectable()` class, from this plugin's own container, made with everything that its
   * constructor names: bound values, tokens that the manifest `needs`, and other classes, each once.
   */
  services<R extends Readonly<Record<string, Class<unknown>>>>(classes: R): Instances<R>;
  /** Puts a value into this plugin's container, for `@inject(token)`. */
  bind<T>(key: Key<T>, value: T): void;
  /**
   * Runs `work` while no other process, and no other call in this one, holds the plugin's lock of this name. Null: it
   * is held elsewhere. The lock is kept for as long as `work` runs, and is free again within 30 s when the process is
   * killed.
   * @throws LeaseLost when it was lost on the way (`signal` has aborted: another process may have begun), and what
   * `work` throws
   */
  lock<T>(name: string, work: (held: LockHeld) => Promise<T>): Promise<{ result: T } | null>;
  /**
   * Emits an event of the manifest. False when a durable listener failed: keep it in the outbox and emit it again with
   * the same `id` (ports/events.ts).
   */
  emit(
    event: string,
    data: unknown,
    options?: { id?: string; timestamp?: string; project_slug?: string | null },
  ): Promise<boolean>;
}

export interface Plugin<C = Record<string, unknown>> extends Manifest {
  /**
   * Folder of its views; default `views/` beside the module that the loader opened, or beside its package.json.
   * `import.meta.url` serves.
   */
  from?: string;
  setup(ctx: PluginContext<C>): PluginParts | Promise<PluginParts>;
}

/**
 * Gives a plugin its types; a plain object is as good. What comes out is every plugin's type, whatever its
 * configuration.
 */
export function definePlugin<C = Record<string, unknown>>(plugin: Plugin<C>): Plugin {
  return plugin as unknown as Plugin;
}
