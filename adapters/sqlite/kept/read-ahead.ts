/**
 * The first documents of lists from which changes take one after another, as claims take items from a queue. Some
 * rows are read at a time, and each change takes the first of them that it matches: of sixteen claims one asks the
 * file.
 *
 * The kept rows equal those of the file at any moment, in the order of the file: every write of this connection is
 * compared with them, a commit of another connection is noticed before the first look (../connection/connection.ts),
 * and a rollback forgets them all.
 */
import { matches } from '../../../ports/document.js';
import type { Doc, Filter, Sort } from '../../../ports/store.js';
import type { RecentDoc } from './recent.js';

/** Rows that are read at first, and at most: twice as many each time that all are taken. */
const FEW = 2;
const MOST = 32;
/** Lists at a time; the oldest makes room. */
const LISTS = 8;

export interface FoundDoc extends RecentDoc {
  doc: Doc;
}

/** A row as it was read; it is parsed for the first change that asks for it. */
export interface ReadAheadRow {
  id: string;
  found: () => RecentDoc;
}

interface List {
  collection: string;
  /** What the file was asked for. */
  filter: Filter;
  /** Of the filter and of the order. */
  paths: readonly string[];
  /** By their ids, in order. */
  rows: Map<string, ReadAheadRow>;
  /** How many rows were asked for. */
  most: number;
  /** The file has no more rows for this list. */
  complete: boolean;
}

/** What a change asks for, in two parts. */
export interface ReadAheadQuery {
  key: string;
  /** The part that columns decide which are always as new as the body. */
  filter: Filter;
  /** The rest of the filter, which is asked of each document. */
  rest: Filter;
  sort: Sort;
}

/** A collection, as far as this needs to know it. */
interface Table {
  name: string;
  columns: ReadonlySet<string>;
  indexedLater: readonly string[];
}

/** Null where the order or all of the filter is not in such columns. */
export function readAheadQuery(
  { name, columns, indexedLater }: Table,
  whole: Filter,
  sort: Sort = [],
): ReadAheadQuery | null {
  const isExact = (path: string): boolean => columns.has(path) && !indexedLater.includes(path);
  if (sort.length === 0 || !sort.every(([path]) => isExact(path))) return null;
  const filter: Filter = {};
  const rest: Filter = {};
  for (const path in whole) (isExact(path) ? filter : rest)[path] = whole[path];
  if (Object.keys(filter).length === 0) return null;
  return { key: JSON.stringify([name, filter, sort]), filter, rest, sort };
}

export class ReadAhead {
  readonly #lists = new Map<string, List>();

  /** The first that matches; null: there is none in the file; undefined: the file has to be asked. */
  first({ key, rest }: ReadAheadQuery): FoundDoc | null | undefined {
    const list = this.#lists.get(key);
    if (list === undefined) return undefined;
    for (const row of list.rows.values()) {
      const found = row.found();
      // A change of this row has failed halfway.
      if (found.doc === null) {
        this.#lists.delete(key);
        return undefined;
      }
      if (matches(found.doc, rest)) return found as FoundDoc;
    }
    return list.complete ? null : undefined;
  }

  /** How many rows are to be read now; 0: those that are read already do not match, and neither may the next ones. */
  wanted({ key }: ReadAheadQuery): number {
    const list = this.#lists.get(key);
    if (list === undefined) return FEW;
    return list.rows.size > 0 ? 0 : Math.min(MOST, list.most * 2);
  }

  /** @param rows the first ones of the file, of at most `most` that were asked for */
  read({ key, filter, sort }: ReadAheadQuery, collection: string, rows: readonly ReadAheadRow[], most: number): void {
    const [oldest] = this.#lists.keys();
    if (oldest !== undefined && this.#lists.size >= LISTS && !this.#lists.has(key)) this.#lists.delete(oldest);
    this.#lists.set(key, {
      collection,
      filter,
      paths: [...Object.keys(filter), ...sort.map(([path]) => path)],
      rows: new Map(rows.map((row) => [row.id, row])),
      most,
      complete: rows.length < most,
    });
  }

  /** A document as it was changed. @param isTouched which paths the change may have written */
  changed(collection: string, doc: Doc, isTouched: (path: string) => boolean): void {
    for (const [key, list] of this.#lists) {
      if (list.collection !== collection) continue;
      const known = list.rows.has(doc.id);
      if (!known && !list.paths.some(isTouched)) continue;
      if (matches(doc, list.filter)) this.#lists.delete(key);
      else if (known) list.rows.delete(doc.id);
    }
  }

  inserted(collection: string, doc: Doc): void {
    for (const [key, list] of this.#lists)
      if (list.collection === collection && matches(doc, list.filter)) this.#lists.delete(key);
  }

  drop(collection: string): void {
    for (const [key, list] of this.#lists) if (list.collection === collection) this.#lists.delete(key);
  }

  clear(): void {
    this.#lists.clear();
  }
}
