/**
 * The plugin contract: what a plugin is, and what it is given. This file is the public surface (`aos/plugin`); the API
 * report in docs/plugin-api.md is made from it, and a test compares them. `PLUGIN_API` rises only with a breaking change.
 */
import type { ObjectSchema } from 'joi';
import type { Cipher } from '../ports/cipher.js';
import type { Clock } from '../ports/clock.js';
import type { DomainEvent, ListenSpec } from '../ports/events.js';
import type { PasswordHasher } from '../ports/hasher.js';
import type { PageSpec, PanelSpec, RouteSpec } from '../ports/http.js';
import type { Ids } from '../ports/ids.js';
import type { Jobs, JobSpec } from '../ports/jobs.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { Outbound } from '../ports/outbound.js';
import type { Installers } from '../ports/installers.js';
import type { ReleaseStore } from '../ports/release-store.js';
import type { Signers } from '../ports/signer.js';
import type { Collection, CollectionSpec, Doc, Transact } from '../ports/store.js';
import { token, type Extension, type ExtensionPoint, type Token } from '../ports/token.js';
import type { Instances } from './container.js';
import type { Catalogue } from './errors.js';
import type { Class, Key } from './inject.js';
import type { LockHeld } from './locks.js';

export { listen } from '../ports/events.js';
export { event, extend, extensionPoint, perPlugin, token } from '../ports/token.js';
export type { AskingPlugin, EventType, Extension, ExtensionPoint, PerPlugin, Token } from '../ports/token.js';
/** The service's own: a schema of another version of joi is refused by the first one that it meets. */
export { default as joi } from 'joi';
export { inject, injectable, type Class, type Key } from './inject.js';
export type { Instances } from './container.js';
export { formPage, orAgain, problemText, type Problem } from './forms/again.js';
export { fromForm } from './forms/from-form.js';
export type { LockHeld } from './locks.js';
export { LeaseLost } from '../lib/lease.js';
export { localOf, utcOfLocal } from '../lib/local-time.js';
export { timeParameter } from './parameters.js';
export {
  conflict,
  denied,
  invalid,
  invalidQuery,
  notFound,
  owned,
  ownedOrNull,
  rateLimited,
  refusals,
  refuse,
  ServiceError,
  type Catalogue,
  type ErrorCode,
  type ErrorOptions,
} from './errors.js';

/** The version of this contract. A plugin made for another one is refused, with both numbers. */
export const PLUGIN_API = 1;

/** The ports a plugin may use, beside its own collections. */
export interface Ports {
  clock: Clock;
  ids: Ids;
  log: Logger;
  hasher: PasswordHasher;
  cipher: Cipher;
  outbound: Outbound;
  metrics: Metrics;
  /** Where packages lie. */
  releaseStore: ReleaseStore;
  /** The update agents that are given to machines. */
  installers: Installers;
  /** The keys of releases and of licenses. */
  signers: Signers;
  jobs: Pick<Jobs, 'enqueue' | 'runNow' | 'list'>;
}

/** Settings of the whole service that every plugin may read (`config/schema.ts`). */
export interface AppSettings {
  version: string;
  base_url: string;
  timezone: string;
  debug: boolean;
  shared_key: string;
  /** `security.webhook_key`: signs webhooks that have no secret of their own; empty: there is none. */
  webhook_key: string;
  limits: Readonly<Record<string, number>>;
  /** Which reports are one error. */
  grouping: Readonly<Record<string, number | boolean>>;
}

/** The tokens of the ports, and of the settings, for `@inject(PORT.clock)`: every plugin's container has them. */
export const PORT: { readonly [N in keyof Ports]: Token<Ports[N]> } & { readonly app: Token<AppSettings> } = {
  clock: token('clock'),
  ids: token('ids'),
  log: token('log'),
  hasher: token('hasher'),
  cipher: token('cipher'),
  outbound: token('outbound'),
  metrics: token('metrics'),
  releaseStore: token('releaseStore'),
  installers: token('installers'),
  signers: token('signers'),
  jobs: token('jobs'),
  app: token('app'),
};

/** The token of one of the manifest's collections, for `@inject(collection<Note>('notes'))`; the type is the plugin's word. */
export function collection<T extends Doc>(name: string): Token<Collection<T>> {
  return token(`collection:${name}`);
}

/** The token of what others have added to one of the manifest's extension points, for `@inject(added(POINT))`; asked when it is used. */
export function added<T>({ point }: ExtensionPoint<T>): Token<() => readonly T[]> {
  return token(`added:${point}`);
}

/** A numbered, additive change of the plugin's own data. Recorded as `<plugin>:<number>-<name>`, run once, under a lease. */
export interface Migration {
  number: number;
  name: string;
  run(ctx: MigrationContext): Promise<void>;
}

export interface MigrationContext {
  collection<T extends Doc>(name: string): Collection<T>;
  clock: Clock;
  ids: Ids;
  log: Logger;
}

/** What the manifest says can be read without running the plugin. The kernel refuses unknown members. */
export interface Manifest {
  /** `^[a-z][a-z0-9]{1,31}$`; the prefix of its collections and jobs, its section in the configuration. */
  id: string;
  /** Its section in the configuration, where that is not its id. */
  section?: string;
  version: string;
  api: number;
  title: string;
  /** Its failure stops the boot; another plugin's becomes `failed(reason)`. Default false. */
  critical?: boolean;
  /** Plugins that come first where they are installed: an order, not a demand. */
  after?: readonly string[];
  /** Names of tokens that another plugin must provide. */
  needs?: readonly string[];
  /** Names of tokens that another plugin may provide: what `ctx.find` asks for. */
  uses?: readonly string[];
  provides?: readonly string[];
  /** Extension points that it offers, by name: other plugins add to them, and it asks what they added. */
  extensionPoints?: readonly string[];
  /** Extension points of other plugins to which it adds. */
  extends?: readonly string[];
  /** Validates its section of the configuration; defaults come from the schema. */
  config?: ObjectSchema;
  /** Scopes that tokens may carry because of it. */
  scopes?: readonly string[];
  /** Events that it emits. */
  events?: readonly string[];
  /** Its error codes, each with its status and meaning; `refuse` throws them. */
  errors?: Catalogue;
  /** Groups of its routes in openapi.json, by the first segment of their paths below `/api/`, each with what it is for. */
  tags?: Readonly<Record<string, string>>;
  /** True: while its `health` answers `ok: false`, or it has failed, the service counts as unhealthy. Default false. */
  decidesHealth?: boolean;
  collections?: readonly CollectionSpec[];
  migrations?: readonly Migration[];
}

export interface HealthResult {
  ok: boolean;
  [detail: string]: unknown;
}

/** A command of the command line: `aos <name> <action> …`. */
export interface CommandSpec {
  /** `token create`: one or two words. */
  name: string;
  summary: string;
  /** Positional arguments, in order; a trailing `?` makes one optional. */
  args?: readonly string[];
  /** Options as `node:util` parseArgs takes them, with the text for the help. */
  options?: Record<
    string,
    { type: 'string' | 'boolean'; summary: string; required?: boolean; default?: string | boolean }
  >;
  run(call: CommandCall): Promise<CommandResult>;
}

export interface CommandCall {
  args: readonly string[];
  options: Readonly<Record<string, string | boolean | undefined>>;
  /** Standard input, whole (for `--password-stdin`). */
  stdin(): Promise<string>;
}

/** `json` is the one document that `--json` prints; `text` is what a person reads. */
export interface CommandResult {
  json: object;
  text: string;
  /** Default 0. */
  exit?: number;
}

/** What a plugin contributes. It calls no server: a test calls any part without HTTP. */
export interface PluginParts {
  routes?: readonly RouteSpec[];
  pages?: readonly PageSpec[];
  panels?: readonly PanelSpec[];
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
  ports: Ports;
  /** One of the collections in the manifest, stored as `<plugin>_<name>`. */
  collection<T extends Doc>(name: string): Collection<T>;
  /**
   * Writes of several of the plugin's collections, by their names in the manifest, that happen all or not at all. Null where
   * the store has no transactions (MongoDB): such a plugin has another way too (docs/consistency.md).
   */
  readonly transact: Transact | null;
  /** A service that the manifest `needs`. */
  resolve<T>(token: Token<T>): T;
  /**
   * A service that the manifest `uses`: asked when it is used, not at setup. Undefined when its plugin is not installed,
   * switched off, or has failed.
   */
  find<T>(token: Token<T>): T | undefined;
  /** What others have added to an extension point of this manifest; asked when it is used. Of plugins that have not failed. */
  extensions<T>(point: ExtensionPoint<T>): readonly T[];
  /**
   * One instance of each `@injectable()` class, from this plugin's own container, made with everything that its
   * constructor names: bound values, tokens that the manifest `needs`, and other classes, each once.
   */
  services<R extends Readonly<Record<string, Class<unknown>>>>(classes: R): Instances<R>;
  /** Puts a value into this plugin's container, for `@inject(token)`. */
  bind<T>(key: Key<T>, value: T): void;
  /**
   * Runs `work` while no other process, and no other call in this one, holds the plugin's lock of this name. Null: it is
   * held elsewhere. The lock is kept for as long as `work` runs, and is free again within 30 s when the process is killed.
   * @throws LeaseLost when it was lost on the way (`signal` has aborted: another process may have begun), and what `work` throws
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

/** Gives a plugin its types; a plain object is as good. What comes out is every plugin's type, whatever its configuration. */
export function definePlugin<C = Record<string, unknown>>(plugin: Plugin<C>): Plugin {
  return plugin as unknown as Plugin;
}

export type {
  Clock,
  Collection,
  CollectionSpec,
  Doc,
  DomainEvent,
  Ids,
  JobSpec,
  ListenSpec,
  Logger,
  PageSpec,
  PanelSpec,
  RouteSpec,
};
export type * from '../ports/cipher.js';
export type * from '../ports/hasher.js';
export type * from '../ports/installers.js';
export type * from '../ports/jobs.js';
export type * from '../ports/metrics.js';
export type * from '../ports/outbound.js';
export type * from '../ports/processes.js';
export type * from '../ports/signer.js';
export type * from '../ports/store.js';
export type * from '../ports/tuning.js';
export type { Render, Rendered, Renderer, Rendering } from '../ports/rendering.js';
export type * from '../ports/tools.js';
export { mergedPage } from '../ports/cursor.js';
export { matches } from '../ports/document.js';
export { OutboundError } from '../ports/outbound.js';
export {
  FileReplaced,
  PackageRejected,
  PackageTooLarge,
  type AccessFile,
  type ManifestTexts,
  type PackageContents,
  type PackagedFile,
  type ReleasePlace,
  type ReleaseStore,
  type StagedPackage,
  type StoredFile,
} from '../ports/release-store.js';
export { cached, findCached, getCached } from '../ports/cached-reads.js';
export { changeRendered, findRendered } from '../ports/rendering.js';
export { InvalidCursor, StoreConflict } from '../ports/store.js';
export { deleted, pageOf, whole } from './shapes.js';
export {
  created,
  EventStreamAnswer,
  FileAnswer,
  JsonText,
  named,
  Redirect,
  Reply,
  SharedBytes,
  stated,
  text,
  unlisted,
  View,
} from '../ports/http.js';
export type {
  Access,
  AccessRule,
  Answer,
  Authenticator,
  CarriedOut,
  FormMemory,
  SessionOf,
  HttpRequest,
  AnsweredFile,
  BasicCredentials,
  BasicGuard,
  BasicRequest,
  BasicVerdict,
  ServerSentEvent,
  UploadedBody,
  PageResult,
  Principal,
  Refusal,
  Role,
  SessionPrincipal,
  StreamedInput,
  TokenKind,
  TokenPrincipal,
  ToolSpec,
} from '../ports/http.js';
