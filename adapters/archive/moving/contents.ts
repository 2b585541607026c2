/**
 * Documents as lines of canonical JSON (RFC 8785), collection by collection in the order of their ids: the same
 * documents are the same bytes whatever engine they come from, so that two exports can be compared by hash
 * (docs/archives.md).
 */
import { createHash, type Hash } from 'node:crypto';
import { formatCanonicalJson, type JsonValue } from '../../../lib/formats/canonical-json.js';
import { withBytes } from '../../../ports/document.js';
import type { Doc } from '../../../ports/store.js';
import { parsed } from '../container/head.js';
import { ArchiveRejected } from '../container/rejected.js';

export const CONTENTS_ENTRY = 'contents.json';
export const MIGRATIONS = 'kernel_migrations';
/** What says that an import is under way. */
export const MOVES = 'kernel_moves';
/** Of the store that they are in, and of no other. */
const OWN = new Set(['kernel_leases', MOVES]);
/** What a store's indexes are is its own; the next start makes those that are missing. */
const INDEXES = /^[a-z0-9]+:indexes-[0-9a-f]+$/;
/** A body has 64 levels at most; what is made of it has a few more. */
const MAX_DEPTH = 200;
const MAX_VALUES = 1_000_000;
/** Of a part, which ends after 4 MiB. */
const MAX_DOCUMENTS = 500_000;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const PART = /^collections\/([a-z][a-z0-9_]*)\/\d{6}\.jsonl$/;

export interface CollectionContents {
  documents: number;
  /** Hex, of all its lines. */
  sha256: string;
}

export interface Contents {
  collections: Record<string, CollectionContents>;
  documents: number;
  /** Hex: equal for equal contents. */
  sha256: string;
}

export const travels = (collection: string): boolean => !OWN.has(collection) && !collection.startsWith('sqlite_');

export const isOfIndexes = (collection: string, { id }: Doc): boolean => collection === MIGRATIONS && INDEXES.test(id);

/** Fingerprints of keys are in the head of the archive, and an import writes them anew. */
const KEYS = 'kernel_keys';

/** Whether a document is its store's own, and in no export. */
export const isOfStore = (collection: string, doc: Doc): boolean =>
  isOfIndexes(collection, doc) || (collection === KEYS && !('key' in doc));

export const partEntry = (collection: string, n: number): string =>
  `collections/${collection}/${String(n).padStart(6, '0')}.jsonl`;

/** The collection of an entry; null: it is none of documents. */
export const collectionOfEntry = (path: string): string | null => PART.exec(path)?.[1] ?? null;

/**
 * The documents of a part.
 * @throws ArchiveRejected for what no store has written
 */
export function documentsIn(text: string, path: string): Doc[] {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new ArchiveRejected(`holds ${path}, whose last line is cut short`);
  if (lines.length > MAX_DOCUMENTS)
    throw new ArchiveRejected(`holds ${path} with more than ${MAX_DOCUMENTS} documents`);
  return lines.map((line) => {
    const excess = findExcess(line);
    if (excess !== null) throw new ArchiveRejected(`holds ${path} with a document of more than ${excess}`);
    const doc = parsed(line) as Doc | null;
    if (typeof doc !== 'object' || typeof doc?.id !== 'string' || doc.id === '')
      throw new ArchiveRejected(`holds ${path} with a line that is no document`);
    return doc;
  });
}

/** Counts brackets and commas outside of texts before the line is parsed. Null: it is within the limits. */
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

/** Bytes are written in base64. */
export function lineOf(doc: Doc): string {
  const plain = Object.entries(doc).map(([field, value]) => [
    field,
    value instanceof Uint8Array ? toBase64(value) : value,
  ]);
  return `${formatCanonicalJson(Object.fromEntries(plain) as JsonValue)}\n`;
}

const toBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');

/** The opposite, for the bytes field of a collection. @throws ArchiveRejected */
export function docFrom(line: Doc, collection: string, field: string | undefined): Doc {
  const text = field === undefined ? undefined : (line as unknown as { [field: string]: unknown })[field];
  if (field === undefined || text === undefined) return line;
  if (typeof text !== 'string' || !BASE64.test(text))
    throw new ArchiveRejected(`holds a document of ${collection} whose ${field} is no base64`);
  return withBytes(line, field, Buffer.from(text, 'base64'));
}

/** Counts and hashes as the lines go by. */
export class ContentsHash {
  readonly #collections = new Map<string, { documents: number; hash: Hash }>();

  /** @param documents lines in `bytes` */
  add(collection: string, bytes: Uint8Array | string, documents: number): void {
    let known = this.#collections.get(collection);
    if (known === undefined) this.#collections.set(collection, (known = { documents: 0, hash: createHash('sha256') }));
    known.hash.update(bytes);
    known.documents += documents;
  }

  /** Once, at the end. */
  contents(): Contents {
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
