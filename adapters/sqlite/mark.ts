/**
 * The marks of rows whose columns lag behind their bodies, and how a table's schema tells which columns may (unsettled.ts).
 */

/** Of a row: null, `LAGS` while its deferred columns lag behind its body, or `INSERTED` while it is pending. */
export const MARK = '"~"';
export const LAGS = 1;
export const INSERTED = 2;

/**
 * 1 in a row that is pending: inserted, and in no index but the unique ones, because its other columns are empty. Else null. A
 * column of its own, since the indexes name it, and SQLite makes their entries anew whenever it is written.
 */
export const PENDING = '"~pending"';

export interface Marks {
  /** Paths whose columns lag behind after a change. */
  deferred: readonly string[];
  /** Rows that are inserted are pending. */
  pending: boolean;
}

export const NO_MARKS: Marks = { deferred: [], pending: false };

export const isMarking = ({ deferred, pending }: Marks): boolean => pending || deferred.length > 0;

/** The index over marked rows; its name holds what is deferred, so that every connection learns it from the schema. */
export const markLabel = (name: string, { deferred, pending }: Marks): string =>
  `${labelPrefix(name, pending)}${deferred.join()}`;

const labelPrefix = (name: string, pending: boolean): string => `${name}:${pending ? 'pending' : 'unsettled'}:`;

/** What is marked, from the names of a table's indexes. */
export function marksOf(name: string, indexes: readonly string[]): Marks {
  for (const pending of [false, true]) {
    const prefix = labelPrefix(name, pending);
    const label = indexes.find((index) => index.startsWith(prefix));
    if (label !== undefined) return { deferred: label.slice(prefix.length).split(',').filter(Boolean), pending };
  }
  return NO_MARKS;
}
