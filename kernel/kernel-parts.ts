import type { HttpServer } from '../ports/http-server.js';
import type { Jobs } from '../ports/jobs.js';
import type { UnlistedProxy } from '../ports/domain/system.js';
import type { Ports } from '../ports/ports.js';
import type { Processes } from '../ports/processes.js';
import type { CollectionSpec, DocumentStore } from '../ports/store/index.js';
import type { AppSettings, CommandSpec, Plugin } from './contract/index.js';
import type { SectionSettings } from './plugin-registry.js';

export interface KernelConfig extends SectionSettings {
  app: AppSettings;
  /** `storage.auto_migrate`. Embedded engines always migrate (contract 00, first start). */
  auto_migrate: boolean;
  plugin_timeout_ms: number;
  /** For running requests and jobs at the stop. */
  stop_timeout_ms?: number;
}

/**
 * The ports as adapters supply them; plugins see a part of `jobs`, which is absent in a process
 * without jobs.
 */
export type SuppliedPorts = Omit<Ports, 'jobs'> & { jobs?: Jobs };

/** Everything the kernel is built from. */
export interface KernelParts extends SuppliedPorts {
  config: KernelConfig;
  store: DocumentStore;
  http?: HttpServer;
  processes?: Processes;
  builtin: readonly Plugin[];
  builtinTested?: boolean;
  plugins?: readonly string[];
  bases?: readonly string[];
  /** Called once the store answers, before anything is read from it. An error stops the boot. */
  checkStore?: () => Promise<void>;
  collections?: readonly CollectionSpec[];
  freeBytes: () => Promise<number>;
  /** Number of processes that serve the store, including this one. */
  peers?: () => number;
  pluginFailed?: () => void;
  unlistedProxies?: () => readonly UnlistedProxy[];
}

/** `command` runs up to set up: no plugin is started, nothing listens, no job runs by itself. */
export type KernelMode = 'serve' | 'command';

export interface KernelBootOptions {
  /** False for `serve` without a listening server. */
  listen?: boolean;
  /** False for `serve` without the plugins' `start` (`aos plugin check`). */
  start?: boolean;
  /** False for `serve` without scheduled jobs. */
  jobs?: boolean;
  /** If false, pending migrations stay pending. */
  migrate?: boolean;
}

export interface BootResult {
  address: string | null;
  ms: number;
}

export interface MountedCommand {
  plugin: string;
  spec: CommandSpec;
  reason: string | null;
}
