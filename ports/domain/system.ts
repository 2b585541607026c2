/**
 * What the kernel itself can say about the service: its runtime, its migrations and its catalog, each for whoever
 * `needs` it.
 */
import type { MetDamage } from '../store/damage.js';
import type { Examined } from '../store/examination.js';
import type { Role } from '../http.js';
import type { Processes } from '../processes.js';
import { token } from '../token.js';
import type { RouteTools } from '../tools.js';

export interface PluginState {
  id: string;
  title: string;
  version: string;
  critical: boolean;
  /** `off`: an administrator switched it off (`plugins_off`), or a plugin that it needs. */
  state: 'ready' | 'failed' | 'starting' | 'stopped' | 'off';
  /** Its `ok: false` makes the service unhealthy. */
  decides_health: boolean;
  reason: string | null;
}

export interface MigrationState {
  /** `access:001-first-template`, `bugs:indexes-3f2a…` */
  id: string;
  applied_at: string | null;
  /** Of the service that applied it; null: nobody wrote it down. */
  version: string | null;
}

/** An address that sent `X-Forwarded-For`, and is not in `server.trusted_proxies`. */
export interface UnlistedProxy {
  address: string;
  /** When it was noted last; at most once an hour. */
  last_at: string;
}

/** Whether the clock is believed by what cannot be taken back: deleting by age (decision 050). */
export interface ClockState {
  believed: boolean;
  /** It leapt while the service ran. Else it is ahead because the machine was off, or the store is an old copy. */
  leapt: boolean;
  /** How far it is ahead of what the store knew last; 0 where it is believed. */
  ahead_seconds: number;
  /** After so long of running with it, it is believed; 0: it is. */
  believed_in_seconds: number;
}

/** A page of the navigation. */
export interface ListedPage {
  href: string;
  label: string;
  /** Other words for it. */
  also: readonly string[];
}

/** The running process and its plugins. */
export interface ServiceRuntime {
  version: string;
  node: string;
  started_at: string;
  /** Of the store. */
  engine: string;
  /** Who this process is, and whether another one of this host is gone. */
  processes: Processes;
  plugins(): readonly PluginState[];
  /** Every plugin's health, by id; a health function that throws or takes over 5 s is `{ok: false, error}`. */
  health(): Promise<Record<string, { ok: boolean; [detail: string]: unknown }>>;
  /** Round trip to the store in milliseconds. @throws when it does not answer. */
  pingStore(): Promise<number>;
  storeBytes(): Promise<number | null>;
  /** Whether `examineStore` reads anything: the engine's files are this service's own. */
  examinesStore: boolean;
  /** Reads all that is stored, beside everything else; null where the engine's server looks after its files itself. */
  examineStore(signal?: AbortSignal): Promise<Examined | null>;
  /** Damage of the store that calls of this process have met. */
  metDamage(): readonly MetDamage[];
  /** Free bytes of the data directory. */
  freeBytes(): Promise<number>;
  /** Newest first, of the last seven days. */
  unlistedProxies(): readonly UnlistedProxy[];
  /** Asks the store whether the clock is where it may be. A job with `removesByAge` is left out while it is not. */
  clock(): Promise<ClockState>;
  /** Processes that serve the store, this one included: each has its part of every limit. */
  peers(): number;
}

/** The numbered changes of stored data. */
export interface ServiceMigrations {
  migrations(): Promise<{ applied: readonly MigrationState[]; pending: readonly string[]; current: string | null }>;
  /** Runs what is pending, under the lease. @throws Error that names each migration that failed, and why */
  migrate(): Promise<{ applied: readonly string[]; pending: readonly string[] }>;
}

/** What the installed plugins offer, all together. */
export interface ServiceCatalog {
  /** Every scope that a plugin registered. */
  scopes(): readonly string[];
  /** Every event that a plugin registered. */
  events(): readonly string[];
  /** The pages of the navigation that this role may open. */
  pages(role: Role): readonly ListedPage[];
  /** openapi.json, the same object every time. */
  openapi(): Promise<object>;
  /** The routes that are offered to agents; none where there is no server. */
  tools(): RouteTools;
}

export const RUNTIME = token<ServiceRuntime>('kernel.runtime');
export const MIGRATIONS = token<ServiceMigrations>('kernel.migrations');
export const CATALOG = token<ServiceCatalog>('kernel.catalog');

/** All three under one name, for plugins that ask for it; a narrow one says better what a plugin needs. */
export type SystemInfo = ServiceRuntime & ServiceMigrations & ServiceCatalog;

export const SYSTEM = token<SystemInfo>('kernel.system');
