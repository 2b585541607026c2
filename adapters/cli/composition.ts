/**
 * What the commands need of the composition root, which passes it to `runCommandLine()`
 * (config/compose/composition.ts).
 */
import type { Configuration, ResolvedConfig } from '../../config/load.js';
import type { CommandCall, CommandResult, CommandSpec } from '../../kernel/contract/index.js';
import type { Kernel, KernelBootOptions, KernelMode } from '../../kernel/kernel.js';
import type { PluginState, UnlistedProxy } from '../../ports/domain/system.js';
import type { Installers } from '../../ports/installers.js';
import type { Jobs } from '../../ports/jobs.js';
import type { PublicKey } from '../../ports/signer.js';
import type { DocumentStore } from '../../ports/store/index.js';

/** Each part is loaded when a command needs it, so that the others start fast. */
export interface Composition {
  loadComposer: () => Promise<Composer>;
  loadDataTransfer: () => Promise<DataTransfer>;
}

/** A command of this adapter; those of plugins need no composition. */
export interface OwnCommand extends Omit<CommandSpec, 'run'> {
  run(call: CommandCall, composition: Composition): Promise<CommandResult>;
}

export interface ServiceStart {
  address: string | null;
  firstAdmin: { username: string; password: string | null } | null;
}

export interface RotatedKey {
  key: PublicKey;
  predecessor: PublicKey;
}

interface RotatingKey {
  readonly setting: string;
  readonly configured: boolean;
  /** @throws ServiceError validation_failed, conflict */
  rotate(text: string | null): Promise<RotatedKey>;
}

export interface ComposedService {
  readonly kernel: Kernel;
  readonly jobs: Jobs;
  readonly keys: Readonly<Record<'release' | 'license', RotatingKey>>;
  readonly lost: Promise<void>;
  origin(setting: string): string;
  boot(options?: KernelBootOptions): Promise<ServiceStart>;
  handleUncaught(error: unknown): boolean;
  stop(): Promise<void>;
}

export interface LoadedKeys {
  release: { pem: string; key_id: string; bits: number; path: string } | null;
  license: string;
  data: string;
  created: readonly string[];
}

export interface ComposeOptions {
  configuration?: Configuration;
  keys?: LoadedKeys;
  store?: DocumentStore;
  threads?: boolean;
  logTo?: 'stdout' | 'stderr';
}

/** Composes services, and opens or examines the parts of an installation. */
export interface Composer {
  compose: (mode: KernelMode, options?: ComposeOptions) => Promise<ComposedService>;
  composeInMemory: (options?: Pick<ComposeOptions, 'configuration'>, mode?: KernelMode) => Promise<ComposedService>;
  readonly BUILTIN: readonly { readonly id: string }[];
  readVersion: () => Promise<string>;

  /** @throws an error for which `isMissingStore` is true */
  requireStore: (config: ResolvedConfig) => Promise<void>;
  isMissingStore: (error: unknown) => boolean;
  createStore: (config: ResolvedConfig, listeners: Record<string, never>, threads: boolean) => Promise<DocumentStore>;
  loadServiceKeys: (config: ResolvedConfig, create: boolean) => Promise<LoadedKeys>;
  verifyFingerprints: (store: DocumentStore, keys: LoadedKeys) => Promise<string>;

  getFreeBytes: (folder: string) => Promise<number>;
  getAccessMode: (configuration: Configuration) => Promise<{ mode: number; gid: number | null }>;
  isStoredInMongo: (configuration: Configuration) => boolean;
  getReleasesFolder: (configuration: Configuration) => string | null;
  listReleaseFolders: (folder: string) => Promise<string[]>;
  createInstallers: (configuration: Configuration) => Installers;
  findNewestBackup: (configuration: Configuration) => Promise<string | null>;
  readRunningPluginStates: (dataDir: string) => Promise<PluginState[] | null>;
  listUnlistedProxies: (dataDir: string, trusted: readonly string[]) => Promise<readonly UnlistedProxy[]>;
}

interface ArchiveHead {
  kind: 'backup' | 'export';
  version: string;
  created_at: string;
  engine: string;
  releases: boolean;
}

interface WrittenArchive {
  path: string;
  bytes: number;
  entries: readonly unknown[];
  missing: string[];
}

/** Each throws Error with one sentence. */
export interface DataTransfer {
  backUpTo: (path: string, options: { releases: boolean }) => Promise<WrittenArchive>;
  restoreFrom: (file: string) => Promise<{ head: ArchiveHead; keys: string[]; packages: number; finished: boolean }>;
  exportTo: (
    path: string,
    options: { releases: boolean },
  ) => Promise<WrittenArchive & { contents: { documents: number; sha256: string; collections: object } }>;
  importFrom: (path: string) => Promise<{ head: ArchiveHead; documents: number; packages: number; sha256: string }>;
  verifyArchive: (
    path: string,
    kind?: ArchiveHead['kind'],
  ) => Promise<{ head: ArchiveHead; entries: number; bytes: number }>;
  fileExists: (path: string) => Promise<boolean>;
  requireWholeStore: (store: DocumentStore, otherwise: string) => Promise<string>;
  readTables: (path: string, tables: readonly string[]) => Record<string, Record<string, unknown>[]>;
}
