/**
 * Imports an export into an empty store (`aos import`) (`aos import`, contract 95, command line).
 * The archive is validated completely first; then a marker declares the store half imported: no
 * start serves it, and another import empties it first (docs/consistency.md, import).
 */
import type { CollectionSpec, Doc, DocumentStore, Filter } from '../../../ports/store/index.js';
import { parseArchiveJson, type ArchiveHead } from '../container/head.js';
import { readEntryText, readArchive } from '../container/reader.js';
import { ArchiveRejectedError } from '../container/archive-rejected-error.js';
import { checkPackageEntry, putPackages, StagedPackages, type PackageTarget, type PlacedPackage } from '../packages.js';
import {
  parseEntryCollection,
  CONTENTS_ENTRY,
  ContentsHash,
  decodeDocument,
  parseDocuments,
  isStoreSpecific,
  MOVES_COLLECTION,
  isExportedCollection,
  type ExportContents,
} from './contents.js';

/** A part ends after 4 MiB, and its last line is at most the largest document. */
const MAX_PART_BYTES = 48 * 1024 * 1024;
const BATCH_DOCUMENTS = 500;
const IMPORT_MARKER_ID = 'import';

interface ImportMarkerDoc extends Doc {
  archive: string;
  started_at: string;
}

export interface ImportTarget {
  store: DocumentStore;
  releases: PackageTarget;
  collections: readonly CollectionSpec[];
  now: () => string;
  /** Called when everything is in place, before the marker is removed. */
  finish: (store: DocumentStore) => Promise<void>;
}

/** @throws Error (one line) for a store with an interrupted import */
export async function requireWholeStore(store: DocumentStore, otherwise = ''): Promise<string> {
  throwIfHalfImported(await store.collection<ImportMarkerDoc>(MOVES_COLLECTION).get(IMPORT_MARKER_ID));
  return otherwise;
}

/** @param read reads one document of the file, null when missing */
export function requireWholeStoreFile(read: (collection: string, id: string) => unknown): void {
  throwIfHalfImported(read(MOVES_COLLECTION, IMPORT_MARKER_ID) as ImportMarkerDoc | null);
}

function throwIfHalfImported(move: ImportMarkerDoc | null): void {
  if (move === null) return;
  throw new Error(
    `the import of ${move.archive} into this store, started at ${move.started_at}, was interrupted: run it again (aos import <file>)`,
  );
}

export const isHalfImported = async (store: DocumentStore): Promise<boolean> =>
  (await store.collection<ImportMarkerDoc>(MOVES_COLLECTION).get(IMPORT_MARKER_ID)) !== null;

/** @param countFilters counted content; null ignores the collection */
export async function describeStoreContent(
  store: DocumentStore,
  countFilters: Readonly<Record<string, Filter | null>>,
): Promise<string | null> {
  for (const name of await store.listCollections()) {
    const filter = countFilters[name];
    if (filter === null || name.startsWith('kernel_')) continue;
    const n = await store.collection<Doc>(name).count(filter ?? {});
    if (n > 0) return `${n} ${n === 1 ? 'document' : 'documents'} in ${name}`;
  }
  return null;
}

/** @throws ArchiveRejected */
export async function validateExport(file: string): Promise<{ head: ArchiveHead; contents: ExportContents }> {
  const hash = new ContentsHash();
  let contentsText: string | null = null;
  const { head } = await readArchive(file, 'export', async (entry, content) => {
    const collection = parseEntryCollection(entry.path);
    if (collection !== null) {
      if (contentsText !== null) throw new ArchiveRejectedError(`contains ${entry.path} after ${CONTENTS_ENTRY}`);
      if (!isExportedCollection(collection))
        throw new ArchiveRejectedError(`contains ${entry.path}, which does not belong in it`);
      const text = await readEntryText(entry, content, MAX_PART_BYTES);
      hash.add(collection, text, parseDocuments(text, entry.path).length);
    } else if (entry.path === CONTENTS_ENTRY) contentsText = await readEntryText(entry, content, MAX_PART_BYTES);
    else await checkPackageEntry(entry, content);
  });
  const contents = hash.getContents();
  if (contentsText === null) throw new ArchiveRejectedError(`lacks ${CONTENTS_ENTRY}`);
  if ((parseArchiveJson(contentsText) as Partial<ExportContents> | null)?.sha256 !== contents.sha256)
    throw new ArchiveRejectedError(`has documents that do not match its ${CONTENTS_ENTRY}`);
  return { head, contents };
}

/**
 * The caller must have validated the archive and ensured that the store is empty or half imported.
 * @throws errors of the store and the archive; the store is then empty, unless the process was
 *   killed
 */
export async function importDocuments(
  file: string,
  target: ImportTarget,
): Promise<{ documents: number; packages: number }> {
  const { store, collections, now } = target;
  const marks = store.collection<ImportMarkerDoc>(MOVES_COLLECTION);
  const packages = new StagedPackages(target.releases.packages);
  const mark = { archive: file, started_at: now() };
  await marks.change({ id: IMPORT_MARKER_ID }, { set: mark }, { upsert: true });
  try {
    await emptyStore(store);
    await store.ensure(collections);
    const places: PlacedPackage[] = [];
    let documents = 0;
    await readArchive(file, 'export', async (entry, content) => {
      const collection = parseEntryCollection(entry.path);
      if (collection !== null) {
        const docs = parseDocuments(await readEntryText(entry, content, MAX_PART_BYTES), entry.path);
        const { bytes } = collections.find(({ name }) => name === collection) ?? {};
        await insertAll(
          store,
          collection,
          docs.filter((doc) => !isStoreSpecific(collection, doc)).map((doc) => decodeDocument(doc, collection, bytes)),
        );
        documents += docs.length;
      } else if (entry.path.startsWith('releases/')) {
        const placed = await packages.stageEntry(entry, content);
        if (placed !== null) places.push(placed);
      }
    });
    await putPackages(target.releases, packages.ids, toAsyncGenerator(places));
    await target.finish(store);
    await marks.remove({ id: IMPORT_MARKER_ID });
    return { documents, packages: places.length };
  } catch (error) {
    await packages.discard();
    await emptyStore(store);
    await marks.remove({ id: IMPORT_MARKER_ID });
    throw error;
  }
}

async function emptyStore(store: DocumentStore): Promise<void> {
  for (const name of await store.listCollections())
    if (name !== MOVES_COLLECTION) await store.collection<Doc>(name).remove({});
}

async function insertAll(store: DocumentStore, name: string, docs: readonly Doc[]): Promise<void> {
  const collection = store.collection<Doc>(name);
  for (let at = 0; at < docs.length; at += BATCH_DOCUMENTS) {
    const batch = docs.slice(at, at + BATCH_DOCUMENTS);
    const results = await collection.bulk(batch.map((doc) => ({ insert: doc })));
    const rejectedIndex = results.findIndex((result) => 'conflict' in result);
    if (rejectedIndex >= 0)
      throw new ArchiveRejectedError(
        `contains two documents of ${name} with the same ${(results[rejectedIndex] as { conflict: string }).conflict}`,
      );
  }
}

async function* toAsyncGenerator<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
