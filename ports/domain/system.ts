/** Runtime, migrations and catalog of the service. */
import type { CorruptDocument } from '../store/damage.js';
import type { StoreExaminationResult } from '../store/examination.js';
import type { Role } from '../http/index.js';
import type { Processes } from '../processes.js';
import { token } from '../token.js';
import type { RouteTools } from '../tools.js';

export interface PluginState {
  id: string;
  title: string;
  version: string;
  critical: boolean;
  /** `off`: disabled by an administrator, or through a dependency. */
  state: 'ready' | 'failed' | 'starting' | 'stopped' | 'off';
  decides_health: boolean;
  reason: string | null;
}

export interface MigrationState {
  /** `access:001-first-template`, `bugs:indexes-3f2a…` */
  id: string;
  applied_at: string | null;
  version: string | null;
}

/** An address outside `server.trusted_proxies` that sent `X-Forwarded-For`. */
export interface UnlistedProxy {
  address: string;
  last_at: string;
}

/** Whether the clock is trusted for deletion by age (decision 050). */
export interface ClockState {
  believed: boolean;
  /** Otherwise the machine was off or the store is an old copy. */
  leapt: boolean;
  /** Seconds ahead of the stored time; 0: trusted. */
  ahead_seconds: number;
  /** Remaining running time; 0: trusted. */
  believed_in_seconds: number;
}

/** A page of the navigation. */
export interface ListedPage {
  href: string;
  label: string;
  also: readonly string[];
}

/** The running process and its plugins. */
export interface ServiceRuntime {
  version: string;
  node: string;
  started_at: string;
  engine: string;
  /** Detects ended processes of this host. */
  processes: Processes;
  listPlugins(): readonly PluginState[];
  /** After an error or 5 s `{ok: false, error}`. */
  checkHealth(): Promise<Record<string, { ok: boolean; [detail: string]: unknown }>>;
  /**
   * In milliseconds.
   * @throws when the store does not respond
   */
  pingStore(): Promise<number>;
  getStoreBytes(): Promise<number | null>;
  /** The engine is embedded. */
  canExamineStore: boolean;
  /** Null when a database server maintains the files. */
  examineStore(signal?: AbortSignal): Promise<StoreExaminationResult | null>;
  listDamage(): readonly CorruptDocument[];
  getFreeBytes(): Promise<number>;
  listUnlistedProxies(): readonly UnlistedProxy[];
  /** Until the clock is trusted, jobs with `removesByAge` are skipped. */
  checkClock(): Promise<ClockState>;
  /** Processes on this store share every limit. */
  countProcesses(): number;
}

/** Numbered migrations of stored data. */
export interface ServiceMigrations {
  listMigrations(): Promise<{ applied: readonly MigrationState[]; pending: readonly string[]; current: string | null }>;
  /**
   * Runs under a lease.
   * @throws Error naming each failed migration and its reason
   */
  migrate(): Promise<{ applied: readonly string[]; pending: readonly string[] }>;
}

/** Combined contributions of the installed plugins. */
export interface ServiceCatalog {
  listScopes(): readonly string[];
  listEvents(): readonly string[];
  /** Lists the navigation pages that a role may open. */
  listPages(role: Role): readonly ListedPage[];
  /** Always the same object. */
  getOpenApi(): Promise<object>;
  /** Empty without a server. */
  getTools(): RouteTools;
}

export const RUNTIME = token<ServiceRuntime>('kernel.runtime');
export const MIGRATIONS = token<ServiceMigrations>('kernel.migrations');
export const CATALOG = token<ServiceCatalog>('kernel.catalog');

/** All three services; prefer a narrow one. */
export type SystemInfo = ServiceRuntime & ServiceMigrations & ServiceCatalog;

export const SYSTEM = token<SystemInfo>('kernel.system');
