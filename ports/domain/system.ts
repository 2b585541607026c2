/** Runtime, migrations and catalog of the service, provided by the kernel. */
import type { CorruptDocument } from '../store/damage.js';
import type { StoreExaminationResult } from '../store/examination.js';
import type { Role } from '../http.js';
import type { Processes } from '../processes.js';
import { token } from '../token.js';
import type { RouteTools } from '../tools.js';

export interface PluginState {
  id: string;
  title: string;
  version: string;
  critical: boolean;
  /** `off`: disabled by an administrator (`plugins_off`), or through a dependency. */
  state: 'ready' | 'failed' | 'starting' | 'stopped' | 'off';
  /** Its `ok: false` makes the service unhealthy. */
  decides_health: boolean;
  reason: string | null;
}

export interface MigrationState {
  /** `access:001-first-template`, `bugs:indexes-3f2a…` */
  id: string;
  applied_at: string | null;
  /** Service version that applied it, or null. */
  version: string | null;
}

/** An address that sent `X-Forwarded-For` without being in `server.trusted_proxies`. */
export interface UnlistedProxy {
  address: string;
  /** Last occurrence, updated at most hourly. */
  last_at: string;
}

/** Whether the clock is trusted for irreversible work: deletion by age (decision 050). */
export interface ClockState {
  believed: boolean;
  /** Leapt while running; otherwise the machine was off or the store is an old copy. */
  leapt: boolean;
  /** Seconds ahead of the stored time; 0: trusted. */
  ahead_seconds: number;
  /** Remaining running time until the clock is trusted; 0: trusted. */
  believed_in_seconds: number;
}

/** A page of the navigation. */
export interface ListedPage {
  href: string;
  label: string;
  /** Search synonyms. */
  also: readonly string[];
}

/** The running process and its plugins. */
export interface ServiceRuntime {
  version: string;
  node: string;
  started_at: string;
  /** Store engine. */
  engine: string;
  /** Identifies this process and detects ended ones of this host. */
  processes: Processes;
  listPlugins(): readonly PluginState[];
  /** Returns the health of all plugins by id; after an error or 5 s `{ok: false, error}`. */
  checkHealth(): Promise<Record<string, { ok: boolean; [detail: string]: unknown }>>;
  /** Returns the store's round trip in milliseconds. @throws when the store does not respond */
  pingStore(): Promise<number>;
  getStoreBytes(): Promise<number | null>;
  /** Whether `examineStore` applies: the engine is embedded. */
  canExamineStore: boolean;
  /** Reads all stored data concurrently; null when a database server maintains the files. */
  examineStore(signal?: AbortSignal): Promise<StoreExaminationResult | null>;
  /** Lists store damage that calls of this process encountered. */
  listDamage(): readonly CorruptDocument[];
  /** Returns the free bytes of the data directory. */
  getFreeBytes(): Promise<number>;
  /** Lists the last seven days, newest first. */
  listUnlistedProxies(): readonly UnlistedProxy[];
  /** Checks whether the clock is trusted. Until it is, jobs with `removesByAge` are skipped. */
  checkClock(): Promise<ClockState>;
  /** Returns the number of processes on this store, which share every limit. */
  countProcesses(): number;
}

/** Numbered migrations of stored data. */
export interface ServiceMigrations {
  listMigrations(): Promise<{ applied: readonly MigrationState[]; pending: readonly string[]; current: string | null }>;
  /**
   * Runs pending migrations under a lease.
   * @throws Error naming each failed migration and its reason
   */
  migrate(): Promise<{ applied: readonly string[]; pending: readonly string[] }>;
}

/** Combined contributions of the installed plugins. */
export interface ServiceCatalog {
  /** Lists the scopes that plugins registered. */
  listScopes(): readonly string[];
  /** Lists the events that plugins registered. */
  listEvents(): readonly string[];
  /** Lists the navigation pages that a role may open. */
  listPages(role: Role): readonly ListedPage[];
  /** Returns openapi.json, always the same object. */
  getOpenApi(): Promise<object>;
  /** Returns the routes offered to agents; empty without a server. */
  getTools(): RouteTools;
}

export const RUNTIME = token<ServiceRuntime>('kernel.runtime');
export const MIGRATIONS = token<ServiceMigrations>('kernel.migrations');
export const CATALOG = token<ServiceCatalog>('kernel.catalog');

/** All three services under one token; prefer a narrow one. */
export type SystemInfo = ServiceRuntime & ServiceMigrations & ServiceCatalog;

export const SYSTEM = token<SystemInfo>('kernel.system');
