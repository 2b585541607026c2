/** Two values of one indexed path, between which documents often move. */
export interface IndexedAs {
  path: string;
  /** The value that few documents have. */
  value: string;
  /** The value in whose place it may stand in indexes. */
  as: string;
}

/** What a store may be told about a collection in order to be faster or smaller: it never changes an answer. */
export interface Tuning {
  /**
   * Paths that many documents lack, and that look-ups compare with a value: an engine may leave documents that lack a
   * path out of each index over it.
   */
  sparse?: readonly string[];
  /**
   * Indexed paths, none of them unique, that nearly every write of a document moves: an engine may bring their
   * indexes up to date a little later than the document.
   */
  indexedLater?: readonly string[];
  /** The same for all indexes, but the unique ones, of a document that is inserted. */
  insertsIndexedLater?: boolean;
  /** Indexed paths: a change that moves one of them moves so many indexes that the later ones need not wait. */
  indexedAtOnceWith?: readonly string[];
  /** Of a path that is not unique: an engine may keep both values at one place of its indexes over the path. */
  indexedAs?: IndexedAs;
  /**
   * Fields, large and seldom read, that an engine may keep compressed. No index and no look-up is over them, and no
   * filter and no sort names them.
   */
  compressed?: readonly string[];
}
