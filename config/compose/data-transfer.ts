/**
 * The second composition root: copies and moves stores (contract 95, command line), for commands
 * and the backup process. main.ts composes the running service; this composes offline operations.
 */
import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { finishRestore, isRestoreReady, restoreBackup, type Restored } from '../../adapters/archive/backup/restore.js';
import type { ArchiveHead, ArchiveKind } from '../../adapters/archive/container/head.js';
import { readArchive } from '../../adapters/archive/container/reader.js';
import { refuseExisting, sentenceOf } from '../../adapters/archive/container/writer.js';
import { writeExport, type Exported } from '../../adapters/archive/moving/export.js';
import { contentOf, importDocuments, isHalfImported, judgeExport } from '../../adapters/archive/moving/import.js';
import { isThere } from '../../adapters/archive/files.js';
import type { PackedArchive } from '../../adapters/archive/packages.js';
import { removeStale, withCopy } from '../../adapters/archive/stale.js';
import { InstanceLock } from '../../adapters/node/instance-lock.js';
import { checkFingerprints, fingerprints, type ServiceKeys } from '../../adapters/node/keys/keys.js';
import { PinoLogger } from '../../adapters/node/logger.js';
import { copyStore } from '../../adapters/sqlite/copying/copy.js';
import { checkStoreFile } from '../../adapters/sqlite/copying/check-store-file.js';
export { readTables } from '../../adapters/sqlite/copying/read-tables.js';
import { SqliteStore } from '../../adapters/sqlite/store.js';
import { backUp, keyFiles } from './backup-job.js';
import { refuseStrangers } from './keys.js';
import { findMissingPackages } from './missing-packages.js';
import { loadConfig, type Configuration, type Core } from '../load.js';
import { refuseOpen } from '../../lib/files/trusted-file.js';
import { findFirstMissing, removeEmpty } from '../../lib/folders.js';
import { blueprint, keysOf, releasesOn, requireStore, storeOf, version } from './compose.js';
import type { Kernel } from '../../kernel/kernel.js';
import type { ReleaseStore } from '../../ports/release-store.js';
import type { DocumentStore, Filter } from '../../ports/store.js';

export { isThere } from '../../adapters/archive/files.js';
export { refuseHalfImported } from '../../adapters/archive/moving/import.js';

const printsOf = (keys: ServiceKeys): Record<string, string> => Object.fromEntries(fingerprints(keys));

/**
 * Returns the file of the embedded store.
 * @throws Error for another engine
 */
function embeddedFile({ storage }: Core, otherwise: string): string {
  if (storage.file === null)
    throw new Error(`This is for the embedded store, and storage.url names ${storage.engine}: ${otherwise}.`);
  return storage.file;
}

async function existingFile(config: Core, otherwise: string): Promise<string> {
  const file = embeddedFile(config, otherwise);
  if (await isRestoreReady(config.data_dir))
    throw new Error(`A restore into ${config.data_dir} was cut off: start the service, which finishes it.`);
  await requireStore(config);
  return file;
}

interface Missing {
  missing: string[];
}

/**
 * `aos backup <file>`.
 * @throws Error with one sentence
 */
export async function backUpTo(path: string, { releases }: { releases: boolean }): Promise<PackedArchive & Missing> {
  const configuration = await loadConfig();
  const { core } = configuration;
  const store = await existingFile(core, 'use its own tools, or `aos export`');
  const keys = await keysOf(core, false);
  const folder = releases ? (await releasesOf(configuration)).folder : null;
  const about = { version: await version(), keys: printsOf(keys) };
  const began = new Date().toISOString();
  const written = await backUp({ path: resolve(path), store, dataDir: core.data_dir, releases: folder, ...about });
  if (!releases) return { ...written, missing: [] };
  const open = await storeOf(core, {}, false);
  return { ...written, missing: await withStore(open, (it) => findMissingPackages(it, written.places, began)) };
}

/**
 * Reads an archive completely.
 * @throws ArchiveRejected
 */
export async function verify(
  path: string,
  kind: ArchiveKind | null = null,
): Promise<{ head: ArchiveHead; entries: number; bytes: number }> {
  const { head, entries } = await readArchive(resolve(path), kind, () => Promise.resolve());
  return { head, entries: entries.length, bytes: entries.reduce((sum, { size }) => sum + size, 0) };
}

/**
 * `aos restore <file>`. `finished`: this run completed an interrupted restore of the same file.
 * @throws ArchiveRejected; Error with one sentence
 */
export async function restoreFrom(file: string): Promise<Restored & { finished: boolean }> {
  const configuration = await loadConfig();
  const { core } = configuration;
  const store = embeddedFile(core, 'use its own tools, or `aos import`');
  await refuseOpen(resolve(file));
  return locked(core, async () => {
    const releases = await releasesOf(configuration);
    const target = { dataDir: core.data_dir, store, keyFiles, releases };
    const { head, keys = [], packages = 0 } = (await finishRestore(target)) ?? {};
    if (head !== undefined && isDeepStrictEqual(head, (await verify(file, 'backup')).head))
      return { head, keys, packages, finished: true };
    if (await isThere(store)) {
      const there = await withStore(await storeOf(core), (open) => contentOf(open, FIRST_START));
      if (there !== null) throw notEmpty(store, there);
    }
    return { ...(await restoreBackup(resolve(file), target, checkStoreFile)), finished: false };
  });
}

/**
 * `aos export <file>`. Reads a consistent snapshot of the embedded store.
 * @throws Error with one sentence
 */
export async function exportTo(path: string, { releases }: { releases: boolean }): Promise<Exported & Missing> {
  const configuration = await loadConfig();
  const { core } = configuration;
  const file = resolve(path);
  await refuseExisting(file);
  await removeStale(dirname(file), Date.now());
  const keys = await keysOf(core, false);
  const about = { version: await version(), created_at: new Date().toISOString(), keys: printsOf(keys) };
  const write = async (store: DocumentStore, packages: ReleaseStore | null): Promise<Exported & Missing> => {
    const written = await writeExport(file, about, store, packages);
    if (packages === null) return { ...written, missing: [] };
    return { ...written, missing: await findMissingPackages(store, written.places, about.created_at) };
  };
  if (core.storage.file === null)
    return withStore(await storeOf(core), (store) =>
      releases ? withReleases(configuration, (packages) => write(store, packages)) : write(store, null),
    );
  const packages = releases ? await releasesOf(configuration) : null;
  const source = await existingFile(core, '');
  return withCopy(dirname(file), async (copy) => {
    await copyStore(source, copy).catch((error: unknown) => {
      throw sentenceOf(error, file);
    });
    return withStore(new SqliteStore({ path: copy, durability: 'normal' }), (store) => write(store, packages));
  });
}

export interface Imported {
  head: ArchiveHead;
  documents: number;
  packages: number;
  sha256: string;
}

/**
 * `aos import <file>`.
 * @throws ArchiveRejected; Error with one sentence
 */
export async function importFrom(path: string): Promise<Imported> {
  const configuration = await loadConfig();
  const { core } = configuration;
  const file = resolve(path);
  await refuseOpen(file);
  const { head, contents } = await judgeExport(file);
  const keys = await keysOf(core, false);
  await refuseOtherKeys(head, core);
  const declared = await declaredBy(configuration);
  refuseUnknownMigrations(head, declared);
  const work = async (releases: ReleaseStore): Promise<Imported> =>
    withStore(await storeOf(core), async (store) => {
      const there = (await isHalfImported(store)) ? null : await contentOf(store, FIRST_START);
      if (there !== null) throw notEmpty(core.storage.file ?? 'storage.url', there);
      const { collections } = declared;
      const now = (): string => new Date().toISOString();
      // The first start must not record another key's fingerprint.
      const finish = async (filled: DocumentStore): Promise<void> => {
        if (core.storage.engine === 'mongodb') await checkFingerprints(filled, keys, now);
      };
      const done = await importDocuments(file, { store, releases, collections, now, finish });
      return { head, ...done, sha256: contents.sha256 };
    });
  const run = (): Promise<Imported> => withReleases(configuration, work);
  return core.storage.engine === 'sqlite' ? locked(core, run) : run();
}

/**
 * Documents that a first start or an inspection creates; a store with only these counts as empty.
 */
const FIRST_START: Readonly<Record<string, Filter | null>> = {
  access_audit: null,
  access_roster: null,
  access_sessions: null,
  access_accounts: { id: { ne: '00000000-0000-7000-8000-000000000001' } },
  // Records of older versions, created by the migrations.
  probes_leases: null,
  // The template of contract 21, ignore rules.
  errorstream_rules: { id: { ne: '01941f29-7c00-7000-8000-000000000001' } },
  releases_access: null,
  releases_leases: null,
  watchdog_leases: null,
  watchdog_marks: null,
  watchdog_runs: null,
};

const notEmpty = (where: string, what: string): Error =>
  new Error(`The target is not empty: ${where} holds ${what}. Name another data directory or database.`);

async function withStore<T>(store: DocumentStore, work: (store: DocumentStore) => Promise<T>): Promise<T> {
  await store.connect();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function withReleases<T>(configuration: Configuration, work: (releases: ReleaseStore) => Promise<T>): Promise<T> {
  const releases = await releasesOf(configuration);
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
async function locked<T>(core: Core, work: () => Promise<T>): Promise<T> {
  const { data_dir, storage } = core;
  await refuseStrangers(core);
  const missing = await findFirstMissing(data_dir);
  try {
    const lock = await InstanceLock.acquire(data_dir, storage.file as string);
    try {
      return await work();
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (missing !== null) await removeEmpty(missing);
    throw error;
  }
}

const releasesOf = (configuration: Configuration): Promise<ReleaseStore> =>
  releasesOn(configuration, PinoLogger.create({ level: 'silent' }));

/**
 * Rejects an archive whose sealed documents only the previous keys can open.
 * @throws Error naming the keys that must be moved too
 */
async function refuseOtherKeys({ keys }: ArchiveHead, core: Core): Promise<void> {
  const here = printsOf(await keysOf(core, false));
  const differ = Object.keys(keys).filter((key) => here[key] !== keys[key]);
  if (differ.length === 0) return;
  const where =
    core.storage.file === null
      ? 'the configuration'
      : `${core.data_dir} (${keyFiles.join(', ')}), or the configuration`;
  throw new Error(
    `The archive belongs to other keys: give ${differ.join(', ')} of the service that it comes from to ${where}, and import again.`,
  );
}

/** @throws Error for an archive of a newer version */
function refuseUnknownMigrations(
  head: ArchiveHead,
  { migrations: known, collections }: Awaited<ReturnType<Kernel['examine']>>,
): void {
  // A plugin without migrations is recognized by its collections.
  const plugins = new Set([
    ...known.map((id) => id.split(':')[0]),
    ...collections.map(({ name }) => name.split('_')[0]),
  ]);
  const unknown = (head.migrations ?? []).filter((id) => plugins.has(id.split(':')[0] ?? '') && !known.includes(id));
  if (unknown.length > 0)
    throw new Error(
      `The archive is of a newer version, ${head.version}, whose migration ${unknown[0]} this one does not know.`,
    );
}

async function declaredBy(configuration: Configuration): ReturnType<Kernel['examine']> {
  const service = await blueprint({ configuration });
  try {
    return await service.kernel.examine();
  } finally {
    await service.stop();
  }
}
