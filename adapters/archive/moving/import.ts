/**
 * Imports documents and packages of an export into an empty store of any engine (`aos import`,
 * contract 95, command line). The archive is validated completely first. A marker then declares the
 * store half imported: no start serves it, and another import empties it first
 * (docs/consistency.md, import).
 */
import type { CollectionSpec, Doc, DocumentStore, Filter } from '../../../ports/store.js';
import { parsed, type ArchiveHead } from '../container/head.js';
import { entryText, readArchive } from '../container/reader.js';
import { ArchiveRejected } from '../container/rejected.js';
import { checkPackageEntry, putPackages, StagedPackages, type PackageTarget, type PlacedPackage } from '../packages.js';
import {
  collectionOfEntry,
  CONTENTS_ENTRY,
  ContentsHash,
  docFrom,
  documentsIn,
  isOfStore,
  MOVES,
  travels,
  type Contents,
} from './contents.js';

/** A part ends after 4 MiB, and its last line is at most the largest document. */
const MAX_PART_BYTES = 48 * 1024 * 1024;
const BATCH = 500;
const ID = 'import';

interface MoveDoc extends Doc {
  archive: string;
  started_at: string;
}

export interface ImportTarget {
  store: DocumentStore;
  releases: PackageTarget;
  /** Declarations of this version; indexes are created before the documents are inserted. */
  collections: readonly CollectionSpec[];
  now: () => string;
  /** Called when everything is in place, before the marker is removed. */
  finish: (store: DocumentStore) => Promise<void>;
}

/**
 * Returns `otherwise`.
 * @throws Error (one line) for a store with an interrupted import
 */
export async function refuseHalfImported(store: DocumentStore, otherwise = ''): Promise<string> {
  refuseHalf(await store.collection<MoveDoc>(MOVES).get(ID));
  return otherwise;
}

/**
 * Performs the same check on the file of an embedded store.
 * @param read reads one document of the file, null when missing
 */
export function refuseHalfImportedFile(read: (collection: string, id: string) => unknown): void {
  refuseHalf(read(MOVES, ID) as MoveDoc | null);
}

function refuseHalf(move: MoveDoc | null): void {
  if (move === null) return;
  throw new Error(
    `the import of ${move.archive} into this store, begun at ${move.started_at}, was cut off: run it again (aos import <file>)`,
  );
}

export const isHalfImported = async (store: DocumentStore): Promise<boolean> =>
  (await store.collection<MoveDoc>(MOVES).get(ID)) !== null;

/**
 * Returns what a store contains beyond a first start, or null.
 * @param beside counted content by collection; null ignores the collection
 */
export async function contentOf(
  store: DocumentStore,
  beside: Readonly<Record<string, Filter | null>>,
): Promise<string | null> {
  for (const name of await store.collections()) {
    const filter = beside[name];
    if (filter === null || name.startsWith('kernel_')) continue;
    const n = await store.collection<Doc>(name).count(filter ?? {});
    if (n > 0) return `${n} ${n === 1 ? 'document' : 'documents'} in ${name}`;
  }
  return null;
}

/**
 * Validates the whole archive without changing anything.
 * @throws ArchiveRejected
 */
export async function judgeExport(file: string): Promise<{ head: ArchiveHead; contents: Contents }> {
  const hash = new ContentsHash();
  let told: string | null = null;
  const { head } = await readArchive(file, 'export', async (entry, content) => {
    const collection = collectionOfEntry(entry.path);
    if (collection !== null) {
      if (told !== null) throw new ArchiveRejected(`holds ${entry.path} after ${CONTENTS_ENTRY}`);
      if (!travels(collection)) throw new ArchiveRejected(`holds ${entry.path}, which has no place in it`);
      const text = await entryText(entry, content, MAX_PART_BYTES);
      hash.add(collection, text, documentsIn(text, entry.path).length);
    } else if (entry.path === CONTENTS_ENTRY) told = await entryText(entry, content, MAX_PART_BYTES);
    else await checkPackageEntry(entry, content);
  });
  const contents = hash.contents();
  if (told === null) throw new ArchiveRejected(`lacks ${CONTENTS_ENTRY}`);
  if ((parsed(told) as Partial<Contents> | null)?.sha256 !== contents.sha256)
    throw new ArchiveRejected(`has documents that its ${CONTENTS_ENTRY} does not name`);
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
  const marks = store.collection<MoveDoc>(MOVES);
  const packages = new StagedPackages(target.releases.packages);
  const mark = { archive: file, started_at: now() };
  await marks.change({ id: ID }, { set: mark }, { upsert: true });
  try {
    await empty(store);
    await store.ensure(collections);
    const places: PlacedPackage[] = [];
    let documents = 0;
    await readArchive(file, 'export', async (entry, content) => {
      const collection = collectionOfEntry(entry.path);
      if (collection !== null) {
        const docs = documentsIn(await entryText(entry, content, MAX_PART_BYTES), entry.path);
        const { bytes } = collections.find(({ name }) => name === collection) ?? {};
        await insertAll(
          store,
          collection,
          docs.filter((doc) => !isOfStore(collection, doc)).map((doc) => docFrom(doc, collection, bytes)),
        );
        documents += docs.length;
      } else if (entry.path.startsWith('releases/')) {
        const placed = await packages.take(entry, content);
        if (placed !== null) places.push(placed);
      }
    });
    await putPackages(target.releases, packages.ids, listed(places));
    await target.finish(store);
    await marks.remove({ id: ID });
    return { documents, packages: places.length };
  } catch (error) {
    await packages.discard();
    await empty(store);
    await marks.remove({ id: ID });
    throw error;
  }
}

async function empty(store: DocumentStore): Promise<void> {
  for (const name of await store.collections()) if (name !== MOVES) await store.collection<Doc>(name).remove({});
}

async function insertAll(store: DocumentStore, name: string, docs: readonly Doc[]): Promise<void> {
  const collection = store.collection<Doc>(name);
  for (let at = 0; at < docs.length; at += BATCH) {
    const batch = docs.slice(at, at + BATCH);
    const results = await collection.bulk(batch.map((doc) => ({ insert: doc })));
    const refused = results.findIndex((result) => 'conflict' in result);
    if (refused >= 0)
      throw new ArchiveRejected(
        `holds two documents of ${name} with one ${(results[refused] as { conflict: string }).conflict}`,
      );
  }
}

async function* listed<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
