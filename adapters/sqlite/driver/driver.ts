/**
 * The little of SQLite that this adapter uses, whichever driver is below (open.ts), and what its errors mean. Rows are
 * arrays of values, in the order of the columns.
 */
export type Value = string | number | null | Uint8Array;

export interface Statement {
  all(values: readonly Value[]): Value[][];
  get(values: readonly Value[]): Value[] | undefined;
  /** Rows changed. */
  run(values: readonly Value[]): number;
}

export interface Driver {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  inTransaction(): boolean;
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

/** The disk is full, or the file may not grow. */
export function isFull(error: unknown): boolean {
  return (resultCode(error) & 0xff) === 13;
}

/** The column in `UNIQUE constraint failed: table.column`, or undefined for any other error. */
export function violatedColumn(error: unknown): string | undefined {
  if ((resultCode(error) & 0xff) !== 19 || !(error instanceof Error)) return undefined;
  return /UNIQUE constraint failed: [^.]+\.(.+)$/.exec(error.message)?.[1];
}

export function isMissingTable(error: unknown): boolean {
  return error instanceof Error && error.message.includes('no such table');
}
