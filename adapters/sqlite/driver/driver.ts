export type SqlValue = string | number | null | Uint8Array;

/** Maximum rows of a page, which are briefly in memory twice. */
export const MAX_PAGE_ROWS = 256;

export interface Statement {
  all(values: readonly SqlValue[]): SqlValue[][];
  /** Like `all`, but faster, for a SELECT that finds at most `MAX_PAGE_ROWS`. */
  page(values: readonly SqlValue[]): SqlValue[][];
  get(values: readonly SqlValue[]): SqlValue[] | undefined;
  run(values: readonly SqlValue[]): number;
}

export interface Driver {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  isInTransaction(): boolean;
  /**
   * Not synced to disk.
   * @param rest called between portions of 1 MiB
   */
  copyTo(path: string, rest: () => void): Promise<void>;
  close(): void;
}

export function getResultCode(error: unknown): number {
  const { errcode, rawCode } = error as { errcode?: number; rawCode?: number };
  return errcode ?? rawCode ?? 0;
}

export function isBusyError(error: unknown): boolean {
  return (getResultCode(error) & 0xff) === 5;
}

/** SQLite reports a full disk for the shared-memory file as an I/O error. */
const SHARED_MEMORY_FULL_CODE = 4_874;

export function isDiskFullError(error: unknown): boolean {
  const code = getResultCode(error);
  return (code & 0xff) === 13 || code === SHARED_MEMORY_FULL_CODE;
}

export const isCorruptionError = (error: unknown): boolean => [11, 26].includes(getResultCode(error) & 0xff);

const UNAVAILABLE_REASONS: Readonly<Record<number, string>> = {
  3: 'this user cannot open its file',
  8: 'its file or its disk is read-only',
  10: 'its disk has read or write errors',
  14: 'its file cannot be opened',
  23: 'this user cannot open its file',
};

export const getUnavailableReason = (error: unknown): string | undefined =>
  UNAVAILABLE_REASONS[getResultCode(error) & 0xff];

/** Undefined for unclassified errors. */
export function getOpenFailureReason(error: unknown): string | undefined {
  const code = getResultCode(error) & 0xff;
  if (isDiskFullError(error)) return 'its disk is full';
  if (code === 26) return 'the file is not a database';
  return code === 11 ? 'the database is malformed' : getUnavailableReason(error);
}

/** `UNIQUE constraint failed: table.column`. */
export function parseViolatedColumn(error: unknown): string | undefined {
  if ((getResultCode(error) & 0xff) !== 19 || !(error instanceof Error)) return undefined;
  return /UNIQUE constraint failed: [^.]+\.(.+)$/.exec(error.message)?.[1];
}

export function isMissingTableError(error: unknown): boolean {
  return error instanceof Error && error.message.includes('no such table');
}
