/**
 * The little of SQLite that this adapter uses, over two drivers: `node:sqlite` where Node has it, `libsql` on Node 20.
 * Rows are arrays of values, in the order of the columns.
 */
import { createRequire } from 'node:module';
import { openLibsql } from './driver-libsql.js';
import { openNode, type NodeSqlite } from './driver-node.js';

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

/** @param path of the file; created when missing */
export function openDriver(path: string): Driver {
  const node = nodeSqlite();
  return node ? openNode(node, path) : openLibsql(path);
}

/** `node:sqlite`, or undefined on Node 20. Its notice of being experimental, once per thread, would stand in every log. */
function nodeSqlite(): NodeSqlite | undefined {
  const emit = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return createRequire(import.meta.url)('node:sqlite') as NodeSqlite;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_BUILTIN_MODULE') return undefined;
    throw error;
  } finally {
    process.emitWarning = emit;
  }
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

/** The column in `UNIQUE constraint failed: table.column`, or undefined for any other error. */
export function violatedColumn(error: unknown): string | undefined {
  if ((resultCode(error) & 0xff) !== 19 || !(error instanceof Error)) return undefined;
  return /UNIQUE constraint failed: [^.]+\.(.+)$/.exec(error.message)?.[1];
}

export function isMissingTable(error: unknown): boolean {
  return error instanceof Error && error.message.includes('no such table');
}
