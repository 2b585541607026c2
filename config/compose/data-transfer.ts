/**
 * The second composition root: copies and moves stores (contract 95, command line), for commands
 * and the backup process. main.ts composes the running service; this composes offline operations.
 */
import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  finishRestore,
  isRestoreReady,
  restoreBackup,
  type RestoreSummary,
} from '../../adapters/archive/backup/restore.js';
import type { ArchiveHead, ArchiveKind } from '../../adapters/archive/container/head.js';
import { readArchive } from '../../adapters/archive/container/reader.js';
import { requireMissingFile, toReadableError } from '../../adapters/archive/container/writer.js';
import { writeExport, type ExportSummary } from '../../adapters/archive/transfer/export.js';
import {
  describeStoreContent,
  importDocuments,
  isHalfImported,
  validateExport,
} from '../../adapters/archive/transfer/import.js';
import { fileExists } from '../../adapters/archive/files.js';
import type { ArchivedPackages } from '../../adapters/archive/packages.js';
import { removeStaleFiles, withStoreCopy } from '../../adapters/archive/temporary-files.js';
import { InstanceLock } from '../../adapters/node/instance-lock.js';
import { checkFingerprints, computeFingerprints, type ServiceKeys } from '../../adapters/node/keys/keys.js';
import { PinoLogger } from '../../adapters/node/logger.js';
import { copyStore } from '../../adapters/sqlite/copying/copy-store.js';
import { checkStoreFile } from '../../adapters/sqlite/copying/check-store-file.js';
export { readTables } from '../../adapters/sqlite/copying/read-tables.js';
import { SqliteStore } from '../../adapters/sqlite/store.js';
import { createBackup, keyFileNames } from './backup-job.js';
import { rejectUntrustedFiles } from './service-keys.js';
import { findMissingPackages } from './missing-packages.js';
import { loadConfig, type Configuration, type ResolvedConfig } from '../load.js';
import { requireRestrictedFile } from '../../lib/files/trusted-file.js';
import { findFirstMissing, removeEmptyFolders } from '../../lib/folders.js';
import {
  composeInMemory,
  loadServiceKeys,
  openReleaseStore,
  requireStore,
  createStore,
  readVersion,
} from './compose.js';
import type { Kernel } from '../../kernel/kernel.js';
import type { ReleaseStore } from '../../ports/release-store.js';
import type { DocumentStore, Filter } from '../../ports/store/index.js';

export { fileExists } from '../../adapters/archive/files.js';
export { requireWholeStore } from '../../adapters/archive/transfer/import.js';

const getFingerprints = (keys: ServiceKeys): Record<string, string> => Object.fromEntries(computeFingerprints(keys));

/** @throws Error for another engine */
function getEmbeddedFile({ storage }: ResolvedConfig, otherwise: string): string {
  if (storage.file === null)
    throw new Error(
      `This command requires the embedded store, but storage.url is set to ${storage.engine}: ${otherwise}.`,
    );
  return storage.file;
}

async function requireExistingFile(config: ResolvedConfig, otherwise: string): Promise<string> {
  const file = getEmbeddedFile(config, otherwise);
  if (await isRestoreReady(config.data_dir))
    throw new Error(`A restore into ${config.data_dir} was interrupted: start the service to finish it.`);
  await requireStore(config);
  return file;
}

interface MissingPackages {
  missing: string[];
}

/** @throws Error with one sentence */
export async function backUpTo(
  path: string,
  { releases }: { releases: boolean },
): Promise<ArchivedPackages & MissingPackages> {
  const configuration = await loadConfig();
  const { core } = configuration;
  const store = await requireExistingFile(core, 'use its own tools, or `aos export`');
  const keys = await loadServiceKeys(core, false);
  const folder = releases ? (await openReleases(configuration)).folder : null;
  const about = { version: await readVersion(), keys: getFingerprints(keys) };
  const began = new Date().toISOString();
  const written = await createBackup({
    path: resolve(path),
    store,
    dataDir: core.data_dir,
    releases: folder,
    ...about,
  });
  if (!releases) return { ...written, missing: [] };
  const open = await createStore(core, {}, false);
  return { ...written, missing: await withStore(open, (it) => findMissingPackages(it, written.places, began)) };
}

/** @throws ArchiveRejected */
export async function verifyArchive(
  path: string,
  kind: ArchiveKind | null = null,
): Promise<{ head: ArchiveHead; entries: number; bytes: number }> {
  const { head, entries } = await readArchive(resolve(path), kind, () => Promise.resolve());
  return { head, entries: entries.length, bytes: entries.reduce((sum, { size }) => sum + size, 0) };
}

/**
 * `finished`: completed an interrupted restore of the same file.
 * @throws ArchiveRejected; Error with one sentence
 */
export async function restoreFrom(file: string): Promise<RestoreSummary & { finished: boolean }> {
  const configuration = await loadConfig();
  const { core } = configuration;
  const store = getEmbeddedFile(core, 'use its own tools, or `aos import`');
  await requireRestrictedFile(resolve(file));
  return withLock(core, async () => {
    const releases = await openReleases(configuration);
    const target = { dataDir: core.data_dir, store, keyFiles: keyFileNames, releases };
    const { head, keys = [], packages = 0 } = (await finishRestore(target)) ?? {};
    if (head !== undefined && isDeepStrictEqual(head, (await verifyArchive(file, 'backup')).head))
      return { head, keys, packages, finished: true };
    if (await fileExists(store)) {
      const there = await withStore(await createStore(core), (open) =>
        describeStoreContent(open, FIRST_START_COLLECTIONS),
      );
      if (there !== null) throw createNotEmptyError(store, there);
    }
    return { ...(await restoreBackup(resolve(file), target, checkStoreFile)), finished: false };
  });
}

/**
 * Reads a consistent snapshot.
 * @throws Error with one sentence
 */
export async function exportTo(
  path: string,
  { releases }: { releases: boolean },
): Promise<ExportSummary & MissingPackages> {
  const configuration = await loadConfig();
  const { core } = configuration;
  const file = resolve(path);
  await requireMissingFile(file);
  await removeStaleFiles(dirname(file), Date.now());
  const keys = await loadServiceKeys(core, false);
  const about = { version: await readVersion(), created_at: new Date().toISOString(), keys: getFingerprints(keys) };
  const write = async (
    store: DocumentStore,
    packages: ReleaseStore | null,
  ): Promise<ExportSummary & MissingPackages> => {
    const written = await writeExport(file, about, store, packages);
    if (packages === null) return { ...written, missing: [] };
    return { ...written, missing: await findMissingPackages(store, written.places, about.created_at) };
  };
  if (core.storage.file === null)
    return withStore(await createStore(core), (store) =>
      releases ? withReleases(configuration, (packages) => write(store, packages)) : write(store, null),
    );
  const packages = releases ? await openReleases(configuration) : null;
  const source = await requireExistingFile(core, '');
  return withStoreCopy(dirname(file), async (copy) => {
    await copyStore(source, copy).catch((error: unknown) => {
      throw toReadableError(error, file);
    });
    return withStore(new SqliteStore({ path: copy, durability: 'normal' }), (store) => write(store, packages));
  });
}

export interface ImportResult {
  head: ArchiveHead;
  documents: number;
  packages: number;
  sha256: string;
}

/** @throws ArchiveRejected; Error with one sentence */
export async function importFrom(path: string): Promise<ImportResult> {
  const configuration = await loadConfig();
  const { core } = configuration;
  const file = resolve(path);
  await requireRestrictedFile(file);
  const { head, contents } = await validateExport(file);
  const keys = await loadServiceKeys(core, false);
  await rejectOtherKeys(head, core);
  const declared = await loadDeclarations(configuration);
  rejectUnknownMigrations(head, declared);
  const work = async (releases: ReleaseStore): Promise<ImportResult> =>
    withStore(await createStore(core), async (store) => {
      const there = (await isHalfImported(store)) ? null : await describeStoreContent(store, FIRST_START_COLLECTIONS);
      if (there !== null) throw createNotEmptyError(core.storage.file ?? 'storage.url', there);
      const { collections } = declared;
      const now = (): string => new Date().toISOString();
      // The first start must not record another key's fingerprint.
      const finish = async (filled: DocumentStore): Promise<void> => {
        if (core.storage.engine === 'mongodb') await checkFingerprints(filled, keys, now);
      };
      const done = await importDocuments(file, { store, releases, collections, now, finish });
      return { head, ...done, sha256: contents.sha256 };
    });
  const run = (): Promise<ImportResult> => withReleases(configuration, work);
  return core.storage.engine === 'sqlite' ? withLock(core, run) : run();
}

/** A store with only these counts as empty. */
const FIRST_START_COLLECTIONS: Readonly<Record<string, Filter | null>> = {
  access_audit: null,
  access_roster: null,
  access_sessions: null,
  access_accounts: { id: { ne: '00000000-0000-7000-8000-000000000001' } },
  // Records of older versions, created by the migrations.
  probes_leases: null,
  errorstream_rules: { id: { ne: '01941f29-7c00-7000-8000-000000000001' } },
  releases_access: null,
  releases_leases: null,
  watchdog_leases: null,
  watchdog_marks: null,
  watchdog_runs: null,
};

const createNotEmptyError = (where: string, what: string): Error =>
  new Error(`The target is not empty: ${where} contains ${what}. Choose another data directory or database.`);

async function withStore<T>(store: DocumentStore, work: (store: DocumentStore) => Promise<T>): Promise<T> {
  await store.connect();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function withReleases<T>(configuration: Configuration, work: (releases: ReleaseStore) => Promise<T>): Promise<T> {
  const releases = await openReleases(configuration);
  try {
    return await work(releases);
  } finally {
    await releases.close();
  }
}

/**
 * Runs `work` while no service can start on the embedded store. A data directory created for it is
 * removed again if `work` fails and leaves it empty.
 * @throws InstanceRunning
 */
async function withLock<T>(core: ResolvedConfig, work: () => Promise<T>): Promise<T> {
  const { data_dir, storage } = core;
  await rejectUntrustedFiles(core);
  const missing = await findFirstMissing(data_dir);
  try {
    const lock = await InstanceLock.acquire(data_dir, storage.file as string);
    try {
      return await work();
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (missing !== null) await removeEmptyFolders(missing);
    throw error;
  }
}

const openReleases = (configuration: Configuration): Promise<ReleaseStore> =>
  openReleaseStore(configuration, PinoLogger.create({ level: 'silent' }));

/**
 * Rejects an archive whose sealed documents only the previous keys can open.
 * @throws Error naming the keys that must be moved too
 */
async function rejectOtherKeys({ keys }: ArchiveHead, core: ResolvedConfig): Promise<void> {
  const here = getFingerprints(await loadServiceKeys(core, false));
  const differ = Object.keys(keys).filter((key) => here[key] !== keys[key]);
  if (differ.length === 0) return;
  const where =
    core.storage.file === null
      ? 'the configuration'
      : `${core.data_dir} (${keyFileNames.join(', ')}), or the configuration`;
  throw new Error(
    `The archive belongs to other keys: copy ${differ.join(', ')} of the service that it comes from to ${where}, and import again.`,
  );
}

/** @throws Error for an archive of a newer version */
function rejectUnknownMigrations(
  head: ArchiveHead,
  { migrations: known, collections }: Awaited<ReturnType<Kernel['loadDeclarations']>>,
): void {
  // A plugin without migrations is recognized by its collections.
  const plugins = new Set([
    ...known.map((id) => id.split(':')[0]),
    ...collections.map(({ name }) => name.split('_')[0]),
  ]);
  const unknown = (head.migrations ?? []).filter((id) => plugins.has(id.split(':')[0] ?? '') && !known.includes(id));
  if (unknown.length > 0)
    throw new Error(
      `The archive was created by a newer version, ${head.version}, whose migration ${unknown[0]} is unknown to this version.`,
    );
}

async function loadDeclarations(configuration: Configuration): ReturnType<Kernel['loadDeclarations']> {
  const service = await composeInMemory({ configuration });
  try {
    return await service.kernel.loadDeclarations();
  } finally {
    await service.stop();
  }
}
