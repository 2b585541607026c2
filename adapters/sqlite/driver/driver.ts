/**
 * The subset of SQLite that this adapter uses, independent of the driver, and the meaning of its
 * errors. Rows are arrays of values in column order.
 */
export type Value = string | number | null | Uint8Array;

/** Maximum rows of a page, which are briefly in memory twice. */
export const PAGE_ROWS = 256;

export interface Statement {
  all(values: readonly Value[]): Value[][];
  /** Like `all`, but faster, for a SELECT that finds at most `PAGE_ROWS`. */
  page(values: readonly Value[]): Value[][];
  get(values: readonly Value[]): Value[] | undefined;
  run(values: readonly Value[]): number;
}

export interface Driver {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  inTransaction(): boolean;
  /**
   * Copies all pages of the current read transaction into a new file, without syncing it to disk.
   * @param rest called between portions of 1 MiB
   */
  copyTo(path: string, rest: () => void): Promise<void>;
  close(): void;
}

export function resultCode(error: unknown): number {
  const { errcode, rawCode } = error as { errcode?: number; rawCode?: number };
  return errcode ?? rawCode ?? 0;
}

export function isBusy(error: unknown): boolean {
  return (resultCode(error) & 0xff) === 5;
}

/** SQLite reports a full disk for the shared-memory file as an I/O error. */
const NO_ROOM_BESIDE = 4_874;

export function isFull(error: unknown): boolean {
  const code = resultCode(error);
  return (code & 0xff) === 13 || code === NO_ROOM_BESIDE;
}

export const isCorrupt = (error: unknown): boolean => [11, 26].includes(resultCode(error) & 0xff);

const UNAVAILABLE: Readonly<Record<number, string>> = {
  3: 'this user may not open its file',
  8: 'its file or its disk is read-only',
  10: 'its disk refuses to read or write',
  14: 'its file cannot be opened',
  23: 'this user may not open its file',
};

export const unavailableBecause = (error: unknown): string | undefined => UNAVAILABLE[resultCode(error) & 0xff];

/** Returns a readable reason why a file cannot be opened, or undefined for unclassified errors. */
export function reasonOf(error: unknown): string | undefined {
  const code = resultCode(error) & 0xff;
  if (isFull(error)) return 'its disk is full';
  if (code === 26) return 'the file is not a database';
  return code === 11 ? 'the database is malformed' : unavailableBecause(error);
}

/**
 * Returns the column of `UNIQUE constraint failed: table.column`, or undefined for any other error.
 */
export function violatedColumn(error: unknown): string | undefined {
  if ((resultCode(error) & 0xff) !== 19 || !(error instanceof Error)) return undefined;
  return /UNIQUE constraint failed: [^.]+\.(.+)$/.exec(error.message)?.[1];
}

export function isMissingTable(error: unknown): boolean {
  return error instanceof Error && error.message.includes('no such table');
}
