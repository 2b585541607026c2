import type { ReleaseLocation, ReleaseStore } from '../../../ports/release-store.js';
import type { Doc, DocumentStore } from '../../../ports/store/index.js';
import type { ArchiveHead } from '../container/head.js';
import { createTextEntry, writeArchive, type ArchiveEntry } from '../container/writer.js';
import { iteratePackageEntries, type ArchivedPackages } from '../packages.js';
import { requireWholeStore } from './import.js';
import {
  CONTENTS_ENTRY,
  ContentsHash,
  isIndexMigration,
  isStoreSpecific,
  formatDocumentLine,
  MIGRATIONS_COLLECTION,
  formatPartEntry,
  isExportedCollection,
  type ExportContents,
} from './contents.js';

const PAGE_DOCUMENTS = { first: 10, most: 250 };
/** Source map pieces have up to 350,000, most documents less than 4,000. */
const MAX_PAGE_CHARACTERS = 4 * 1024 * 1024;
const MAX_PART_CHARACTERS = 4 * 1024 * 1024;

export interface ExportSummary extends ArchivedPackages {
  contents: ExportContents;
}

/**
 * @param store open; concurrent writes may or may not be included
 * @param releases null excludes packages
 * @throws Error (one sentence) when the target exists or does not fit, or the store is half
 *   imported; nothing is left behind
 */
export async function writeExport(
  path: string,
  about: Omit<ArchiveHead, 'format' | 'format_version' | 'kind' | 'releases' | 'migrations' | 'engine'>,
  store: DocumentStore,
  releases: ReleaseStore | null,
): Promise<ExportSummary> {
  await requireWholeStore(store);
  const migrations: string[] = [];
  for await (const { doc } of iterateDocuments(store, MIGRATIONS_COLLECTION))
    if (!isIndexMigration(MIGRATIONS_COLLECTION, doc)) migrations.push(doc.id);
  const hash = new ContentsHash();
  const places: ReleaseLocation[] = [];
  const collected: { contents: ExportContents | null } = { contents: null };
  async function* entries(): AsyncGenerator<ArchiveEntry> {
    for (const name of (await store.listCollections()).filter(isExportedCollection))
      yield* iterateParts(store, name, hash);
    await requireWholeStore(store);
    collected.contents = hash.getContents();
    yield createTextEntry(CONTENTS_ENTRY, `${JSON.stringify(collected.contents, null, 2)}\n`);
    if (releases !== null) yield* iteratePackageEntries(releases, places);
  }
  const head = { format: 'aos-archive', format_version: 1, kind: 'export', ...about } as const;
  const whole = { ...head, engine: store.engine, releases: releases !== null, migrations };
  const written = await writeArchive(path, whole, entries());
  return { ...written, places, contents: collected.contents as ExportContents };
}

async function* iterateParts(store: DocumentStore, name: string, hash: ContentsHash): AsyncGenerator<ArchiveEntry> {
  let lines: string[] = [];
  let length = 0;
  let n = 0;
  const part = (): ArchiveEntry => {
    const text = lines.join('');
    hash.add(name, text, lines.length);
    lines = [];
    length = 0;
    return createTextEntry(formatPartEntry(name, ++n), text);
  };
  for await (const { doc, line } of iterateDocuments(store, name)) {
    if (isStoreSpecific(name, doc)) continue;
    lines.push(line);
    length += line.length;
    if (length >= MAX_PART_CHARACTERS) yield part();
  }
  if (lines.length > 0) yield part();
}

async function* iterateDocuments(store: DocumentStore, name: string): AsyncGenerator<{ doc: Doc; line: string }> {
  const collection = store.collection<Doc>(name);
  let limit = PAGE_DOCUMENTS.first;
  for (let after: string | null = null; ;) {
    const page = await collection.find({ limit, after });
    let longest = 1;
    for (const doc of page.items) {
      const line = formatDocumentLine(doc);
      longest = Math.max(longest, line.length);
      yield { doc, line };
    }
    if (page.next === null) return;
    after = page.next;
    limit = Math.max(1, Math.min(PAGE_DOCUMENTS.most, 2 * limit, Math.floor(MAX_PAGE_CHARACTERS / longest)));
  }
}
