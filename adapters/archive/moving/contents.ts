/**
 * Documents as lines of canonical JSON (RFC 8785), collection by collection in the order of their ids: the same
 * documents are the same bytes whatever engine they come from, so that two exports can be compared by hash
 * (docs/archives.md).
 */
import { createHash, type Hash } from 'node:crypto';
import { canonicalJson, type JsonValue } from '../../../formats/canonical-json.js';
import { withBytes } from '../../../ports/document.js';
import type { Doc } from '../../../ports/store.js';
import { ArchiveRejected } from '../container/rejected.js';

export const CONTENTS_ENTRY = 'contents.json';
export const MIGRATIONS = 'kernel_migrations';
/** What says that an import is under way. */
export const MOVES = 'kernel_moves';
/** Of the store that they are in, and of no other. */
const OWN = new Set(['kernel_leases', MOVES]);
/** What a store's indexes are is its own; the next start makes those that are missing. */
const INDEXES = /^[a-z0-9]+:indexes-[0-9a-f]+$/;
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

export const travels = (collection: string): boolean => !OWN.has(collection);

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

/** Bytes are written in base64. */
export function lineOf(doc: Doc): string {
  const plain = Object.entries(doc).map(([field, value]) => [
    field,
    value instanceof Uint8Array ? toBase64(value) : value,
  ]);
  return `${canonicalJson(Object.fromEntries(plain) as JsonValue)}\n`;
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
