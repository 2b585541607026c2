/** What the kernel is built from, and what it answers. main.ts fills this in; tests fill in fakes. */
import type { HttpServer } from '../ports/http-server.js';
import type { Jobs } from '../ports/jobs.js';
import type { UnlistedProxy } from '../ports/domain/system.js';
import type { Ports } from '../ports/ports.js';
import type { Processes } from '../ports/processes.js';
import type { CollectionSpec, DocumentStore } from '../ports/store.js';
import type { AppSettings, CommandSpec, Plugin } from './contract.js';
import type { Sections } from './registry.js';

export interface KernelConfig extends Sections {
  app: AppSettings;
  /** `storage.auto_migrate`. The embedded engines migrate themselves whatever it says (contract 00, first start). */
  auto_migrate: boolean;
  /** For one plugin's import, setup, start or stop. */
  plugin_timeout_ms: number;
  /** For requests and jobs that are running at the stop. Default 10,000. */
  stop_timeout_ms?: number;
}

/** The ports as their adapters supply them; plugins see a part of `jobs`, which is absent in a process without them. */
export type SuppliedPorts = Omit<Ports, 'jobs'> & { jobs?: Jobs };

/** Everything the kernel is made of; main.ts is the only one that knows where each comes from. */
export interface KernelParts extends SuppliedPorts {
  config: KernelConfig;
  store: DocumentStore;
  /** Absent in commands. */
  http?: HttpServer;
  /** Absent: this process is the only one that is known. */
  processes?: Processes;
  builtin: readonly Plugin[];
  /** The tests have judged the shapes, views and sources of `builtin`; else it is done here, as with other plugins. */
  builtinTested?: boolean;
  /** `plugins` of the configuration, and the folders against which its paths are resolved. */
  plugins?: readonly string[];
  bases?: readonly string[];
  /** Called once the store answers and before anything is read from it. What it throws stops the boot. */
  checkStore?: () => Promise<void>;
  /** Collections of the adapters themselves (jobs), by their stored names. */
  collections?: readonly CollectionSpec[];
  /** Free bytes of the data directory. */
  freeBytes: () => Promise<number>;
  /** Processes that serve the store, this one included. Absent: it is alone. */
  peers?: () => number;
  /** Called when a plugin has failed, at the start or later. */
  pluginFailed?: () => void;
  /** Absent: nobody looks for them. */
  unlistedProxies?: () => readonly UnlistedProxy[];
}

/**
 * `command`: everything up to set up, for the command line. No plugin is started, nothing listens, no job runs by
 * itself.
 */
export type Mode = 'serve' | 'command';

export interface KernelBootOptions {
  /** False: `serve` without a listening server (tests that inject requests). */
  listen?: boolean;
  /** False: `serve` without the plugins' `start` (`aos plugin check`). */
  start?: boolean;
  /** False: `serve` without jobs that run by themselves. */
  jobs?: boolean;
  /** False: whatever is pending stays so (`aos migrate` shows it first, `aos doctor` changes nothing). */
  migrate?: boolean;
}

export interface Booted {
  /** `http://127.0.0.1:8080`, or null where nothing listens. */
  address: string | null;
  ms: number;
}

export interface MountedCommand {
  plugin: string;
  spec: CommandSpec;
  /** Why it cannot run: its plugin has failed. */
  reason: string | null;
}
