/**
 * The marks of rows whose columns are older than their bodies, and how a table's schema tells which columns may be
 * (../indexing/catch-up.ts).
 */

/** Of a row: null, `BEHIND` while later columns are older than its body, or `INSERTED` while the row is unindexed. */
export const MARK = '"~"';
export const BEHIND = 1;
export const INSERTED = 2;

/**
 * 1 in an unindexed row: an inserted one, which is in no index but the unique ones, because its other columns are
 * empty. Else null. A column of its own, since the indexes name it, and SQLite makes their entries anew whenever it
 * is written.
 */
export const UNINDEXED = '"~pending"';

export interface Marks {
  /** Paths whose columns are written after the body (`Tuning.indexedLater`). */
  indexedLater: readonly string[];
  /** Paths whose change takes the later ones along. */
  indexedAtOnceWith: readonly string[];
  /** Inserted rows are unindexed at first. */
  insertsLater: boolean;
}

export const NO_MARKS: Marks = { indexedLater: [], indexedAtOnceWith: [], insertsLater: false };

export const isMarking = ({ indexedLater, insertsLater }: Marks): boolean => insertsLater || indexedLater.length > 0;

/** The index over marked rows; its name holds the marks, so that every connection learns them from the schema. */
export const markLabel = (name: string, { indexedLater, indexedAtOnceWith, insertsLater }: Marks): string =>
  [
    `${labelPrefix(name, insertsLater)}${indexedLater.join()}`,
    ...(indexedAtOnceWith.length > 0 ? [indexedAtOnceWith.join()] : []),
  ].join(':');

/** Stores of earlier versions have these words: `pending` where inserts are marked too, else `unsettled`. */
const labelPrefix = (name: string, insertsLater: boolean): string =>
  `${name}:${insertsLater ? 'pending' : 'unsettled'}:`;

/** What is marked, from the names of a table's indexes. */
export function marksOf(name: string, indexes: readonly string[]): Marks {
  for (const insertsLater of [false, true]) {
    const prefix = labelPrefix(name, insertsLater);
    const label = indexes.find((index) => index.startsWith(prefix));
    if (label === undefined) continue;
    const [later = [], along = []] = label
      .slice(prefix.length)
      .split(':')
      .map((paths) => paths.split(',').filter(Boolean));
    return { indexedLater: later, indexedAtOnceWith: along, insertsLater };
  }
  return NO_MARKS;
}
