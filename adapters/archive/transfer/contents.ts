/**
 * Equal documents yield equal bytes on every engine, so that exports can be compared by hash
 * (docs/archives.md) (RFC 8785).
 */
import { createHash, type Hash } from 'node:crypto';
import { formatCanonicalJson, type JsonValue } from '../../../lib/formats/canonical-json.js';
import { attachBytes } from '../../../ports/document.js';
import type { Doc } from '../../../ports/store/index.js';
import { parseArchiveJson } from '../container/head.js';
import { ArchiveRejectedError } from '../container/archive-rejected-error.js';

export const CONTENTS_ENTRY = 'contents.json';
export const MIGRATIONS_COLLECTION = 'kernel_migrations';
export const MOVES_COLLECTION = 'kernel_moves';
/** Collections that belong to one store and are not exported. */
const STORE_COLLECTIONS = new Set(['kernel_leases', MOVES_COLLECTION]);
/** Index migrations are not exported, because the next start creates missing indexes. */
const INDEX_MIGRATION_PATTERN = /^[a-z0-9]+:indexes-[0-9a-f]+$/;
/** A request body has at most 64 levels; derived documents have a few more. */
const MAX_DEPTH = 200;
const MAX_VALUES = 1_000_000;
/** Limit per part, which ends after 4 MiB. */
const MAX_DOCUMENTS = 500_000;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BASE64_PATTERN = /^[A-Za-z0-9+/]*={0,2}$/;
const PART_ENTRY_PATTERN = /^collections\/([a-z][a-z0-9_]*)\/\d{6}\.jsonl$/;

export interface CollectionContents {
  documents: number;
  /** Hex, over all lines. */
  sha256: string;
}

export interface ExportContents {
  collections: Record<string, CollectionContents>;
  documents: number;
  /** Hex; equal contents have equal hashes. */
  sha256: string;
}

export const isExportedCollection = (collection: string): boolean =>
  !STORE_COLLECTIONS.has(collection) && !collection.startsWith('sqlite_');

export const isIndexMigration = (collection: string, { id }: Doc): boolean =>
  collection === MIGRATIONS_COLLECTION && INDEX_MIGRATION_PATTERN.test(id);

/** Fingerprints of keys are in the archive's description; an import writes them again. */
const FINGERPRINTS_COLLECTION = 'kernel_keys';

export const isStoreSpecific = (collection: string, doc: Doc): boolean =>
  isIndexMigration(collection, doc) || (collection === FINGERPRINTS_COLLECTION && !('key' in doc));

export const formatPartEntry = (collection: string, n: number): string =>
  `collections/${collection}/${String(n).padStart(6, '0')}.jsonl`;

export const parseEntryCollection = (path: string): string | null => PART_ENTRY_PATTERN.exec(path)?.[1] ?? null;

/** @throws ArchiveRejected for invalid content */
export function parseDocuments(text: string, path: string): Doc[] {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new ArchiveRejectedError(`contains ${path}, whose last line is truncated`);
  if (lines.length > MAX_DOCUMENTS)
    throw new ArchiveRejectedError(`contains ${path} with more than ${MAX_DOCUMENTS} documents`);
  return lines.map((line) => {
    const excess = findExcess(line);
    if (excess !== null) throw new ArchiveRejectedError(`contains ${path} with a document of more than ${excess}`);
    const doc = parseArchiveJson(line) as Doc | null;
    if (typeof doc !== 'object' || typeof doc?.id !== 'string' || doc.id === '')
      throw new ArchiveRejectedError(`contains ${path} with a line that is not a document`);
    return doc;
  });
}

/**
 * Counts brackets and commas outside of strings before the line is parsed.
 * @returns the violated limit, or null
 */
function findExcess(line: string): string | null {
  let depth = 0;
  let values = 0;
  let inText = false;
  for (let at = 0; at < line.length; at++) {
    const char = line.charCodeAt(at);
    if (char === QUOTE) inText = !inText;
    else if (inText) at += char === BACKSLASH ? 1 : 0;
    else if (char === 0x5b || char === 0x7b) depth++;
    else if (char === 0x5d || char === 0x7d) depth--;
    else if (char === 0x2c) values++;
    if (depth > MAX_DEPTH) return `${MAX_DEPTH} levels`;
    if (values > MAX_VALUES) return `${MAX_VALUES} values`;
  }
  return null;
}

/** Bytes are encoded as base64. */
export function formatDocumentLine(doc: Doc): string {
  const plain = Object.entries(doc).map(([field, value]) => [
    field,
    value instanceof Uint8Array ? toBase64(value) : value,
  ]);
  return `${formatCanonicalJson(Object.fromEntries(plain) as JsonValue)}\n`;
}

const toBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');

/** @throws ArchiveRejected */
export function decodeDocument(line: Doc, collection: string, field: string | undefined): Doc {
  const text = field === undefined ? undefined : (line as unknown as { [field: string]: unknown })[field];
  if (field === undefined || text === undefined) return line;
  if (typeof text !== 'string' || !BASE64_PATTERN.test(text))
    throw new ArchiveRejectedError(`contains a document of ${collection} whose ${field} is not valid base64`);
  return attachBytes(line, field, Buffer.from(text, 'base64'));
}

export class ContentsHash {
  readonly #collections = new Map<string, { documents: number; hash: Hash }>();

  /** @param documents number of lines in `bytes` */
  add(collection: string, bytes: Uint8Array | string, documents: number): void {
    let known = this.#collections.get(collection);
    if (known === undefined) this.#collections.set(collection, (known = { documents: 0, hash: createHash('sha256') }));
    known.hash.update(bytes);
    known.documents += documents;
  }

  getContents(): ExportContents {
    const names = [...this.#collections.keys()].toSorted();
    const collections: Record<string, CollectionContents> = {};
    const all = createHash('sha256');
    let sum = 0;
    for (const name of names) {
      const { documents, hash } = this.#collections.get(name) as { documents: number; hash: Hash };
      const sha256 = hash.digest('hex');
      collections[name] = { documents, sha256 };
      all.update(`${name} ${documents} ${sha256}\n`);
      sum += documents;
    }
    return { collections, documents: sum, sha256: all.digest('hex') };
  }
}
