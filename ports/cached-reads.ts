/**
 * Reads that every request repeats, such as a token or the rules of notifications: an optional ability of a
 * collection, and what does without it.
 */
import type { Paged } from '../lib/paging.js';
import type { Collection, Doc, Find, Page } from './store.js';

/**
 * A collection that keeps documents and short pages for a moment. Callers share what is answered and leave it as it
 * is.
 */
export interface CachingCollection<T extends Doc> {
  /**
   * This process's own writes are seen as by `get`; where no server is shared by several processes, those of a
   * command a few milliseconds later.
   */
  getCached(id: string): Promise<Readonly<T> | null>;
  /** As `getCached`, for a page of few documents. */
  findCached(query?: Find): Promise<Readonly<Page<Readonly<T>>>>;
}

const isCaching = <T extends Doc>(rows: Collection<T>): rows is Collection<T> & CachingCollection<T> =>
  'getCached' in rows;

/** The document with this id, perhaps a kept one; null when there is none. */
export const getCached = <T extends Doc>(rows: Collection<T>, id: string): Promise<Readonly<T> | null> =>
  isCaching(rows) ? rows.getCached(id) : rows.get(id);

/** A page of few documents, perhaps a kept one. */
export const findCached = <T extends Doc>(rows: Collection<T>, query?: Find): Promise<Readonly<Page<Readonly<T>>>> =>
  isCaching(rows) ? rows.findCached(query) : rows.find(query);

/** A list whose pages are few, short and asked for all the time, for the walks of lib/paging.ts. */
export const cached = <T extends Doc>(rows: Collection<T>): Paged<Readonly<T>, Find> => ({
  find: (query) => findCached(rows, query),
});
