/**
 * The little of SQLite that this adapter uses, whichever driver is below (open.ts), and what its errors mean. Rows are
 * arrays of values, in the order of the columns.
 */
export type Value = string | number | null | Uint8Array;

/** Rows of a page at the most: for a moment they are in memory twice. */
export const PAGE_ROWS = 256;

export interface Statement {
  all(values: readonly Value[]): Value[][];
  /** As `all`, quicker: of a SELECT that finds `PAGE_ROWS` at the most. */
  page(values: readonly Value[]): Value[][];
  get(values: readonly Value[]): Value[] | undefined;
  /** Rows changed. */
  run(values: readonly Value[]): number;
}

export interface Driver {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  inTransaction(): boolean;
  /**
   * Copies all pages, as the read transaction that has begun sees them, into a new file, which need not be on the disk
   * at the end.
   * @param rest called between portions of 1 MiB
   */
  copyTo(path: string, rest: () => void): Promise<void>;
  close(): void;
}

/** SQLite's extended result code of an error that a driver threw, or 0. */
export function resultCode(error: unknown): number {
  const { errcode, rawCode } = error as { errcode?: number; rawCode?: number };
  return errcode ?? rawCode ?? 0;
}

/** Another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return (resultCode(error) & 0xff) === 5;
}

/** There is no room to make the shared memory beside the file, which SQLite tells as an error of the disk. */
const NO_ROOM_BESIDE = 4_874;

/** The disk is full, or the file may not grow. */
export function isFull(error: unknown): boolean {
  const code = resultCode(error);
  return (code & 0xff) === 13 || code === NO_ROOM_BESIDE;
}

/** What is stored cannot be read: a page of the file, or the file as a whole. */
export const isCorrupt = (error: unknown): boolean => [11, 26].includes(resultCode(error) & 0xff);

/** Why the file cannot be read or written at the moment, by SQLite's result code. */
const UNAVAILABLE: Readonly<Record<number, string>> = {
  3: 'this user may not open its file',
  8: 'its file or its disk is read-only',
  10: 'its disk refuses to read or write',
  14: 'its file cannot be opened',
  23: 'this user may not open its file',
};

/** Words for people; undefined for any other error. */
export const unavailableBecause = (error: unknown): string | undefined => UNAVAILABLE[resultCode(error) & 0xff];

/** Why a file cannot be opened, in words for people; undefined: only the error itself tells. */
export function reasonOf(error: unknown): string | undefined {
  const code = resultCode(error) & 0xff;
  if (isFull(error)) return 'its disk is full';
  if (code === 26) return 'the file is not a database';
  return code === 11 ? 'the database is malformed' : unavailableBecause(error);
}

/** The column in `UNIQUE constraint failed: table.column`, or undefined for any other error. */
export function violatedColumn(error: unknown): string | undefined {
  if ((resultCode(error) & 0xff) !== 19 || !(error instanceof Error)) return undefined;
  return /UNIQUE constraint failed: [^.]+\.(.+)$/.exec(error.message)?.[1];
}

export function isMissingTable(error: unknown): boolean {
  return error instanceof Error && error.message.includes('no such table');
}
