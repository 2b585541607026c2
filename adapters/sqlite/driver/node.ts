/**
 * Driver on `node:sqlite` (Node 22.16 and newer). Its types are declared here because Node 20's
 * lack them.
 */
import type { Driver, Statement, Value } from './driver.js';
import { exactRow, returnsStored, strictSql } from './strict.js';

interface NodeStatement {
  setReturnArrays(on: boolean): void;
  all(...values: Value[]): Value[][];
  get(...values: Value[]): Value[] | undefined;
  run(...values: Value[]): { changes: number | bigint };
  columns(): readonly unknown[];
  setReadBigInts(on: boolean): void;
}

interface NodeDatabase {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): NodeStatement;
  close(): void;
}

export interface NodeSqlite {
  DatabaseSync: new (path: string, options?: { readOnly?: boolean }) => NodeDatabase;
  backup(from: NodeDatabase, path: string, options: { rate: number; progress: () => void }): Promise<number>;
}

const PORTION = 256;

export function openNode(sqlite: NodeSqlite, path: string, options: { readOnly?: boolean } = {}): Driver {
  const db = new sqlite.DatabaseSync(path, options);
  return {
    exec: (sql) => db.exec(sql),
    inTransaction: () => db.isTransaction,
    // Within a read transaction, concurrent writes do not restart the backup.
    copyTo: async (to, rest) => {
      await sqlite.backup(db, to, { rate: PORTION, progress: rest });
    },
    close: () => db.close(),
    prepare(sql) {
      const statement = db.prepare(sql);
      statement.setReturnArrays(true);
      const exact = returnsStored(sql) ? exactly(db, sql, statement) : null;
      const all = (values: readonly Value[]): Value[][] => {
        const rows = statement.all(...values);
        return exact !== null && rows.some(isDoubtful) ? exact.all(values) : rows;
      };
      return {
        all,
        page: all,
        get: (values) => {
          const row = statement.get(...values);
          return exact !== null && row !== undefined && isDoubtful(row) ? exact.get(values) : row;
        },
        run: (values) => {
          // `run` also returns the last row number, which full-text tables push beyond a safe
          // integer; Node 26 then throws.
          statement.setReadBigInts(true);
          try {
            return Number(statement.run(...values).changes);
          } finally {
            statement.setReadBigInts(false);
          }
        },
      };
    },
  };
}

/** U+FFFD may be genuine or a replacement of invalid UTF-8. */
const isDoubtful = (row: readonly Value[]): boolean =>
  row.some((value) => typeof value === 'string' && value.includes('\ufffd'));

function exactly(db: NodeDatabase, sql: string, plain: NodeStatement): Pick<Statement, 'all' | 'get'> {
  let prepared: NodeStatement | undefined;
  const strict = (): NodeStatement => {
    if (prepared === undefined) {
      prepared = db.prepare(strictSql(sql, plain.columns().length));
      prepared.setReturnArrays(true);
    }
    return prepared;
  };
  return {
    all: (values) =>
      strict()
        .all(...values)
        .map(exactRow),
    get: (values) => {
      const row = strict().get(...values);
      return row && exactRow(row);
    },
  };
}
