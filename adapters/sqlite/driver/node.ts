/**
 * Driver on `node:sqlite` (Node 22.16 and newer). Its types are declared here because Node 20's
 * lack them.
 */
import type { Driver, Statement, SqlValue } from './driver.js';
import { restoreRow, isSelect, buildStrictSql } from './strict.js';

interface NodeStatement {
  setReturnArrays(on: boolean): void;
  all(...values: SqlValue[]): SqlValue[][];
  get(...values: SqlValue[]): SqlValue[] | undefined;
  run(...values: SqlValue[]): { changes: number | bigint };
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

const PORTION_PAGES = 256;

export function openNodeSqlite(sqlite: NodeSqlite, path: string, options: { readOnly?: boolean } = {}): Driver {
  const db = new sqlite.DatabaseSync(path, options);
  return {
    exec: (sql) => db.exec(sql),
    isInTransaction: () => db.isTransaction,
    // Within a read transaction, concurrent writes do not restart the backup.
    copyTo: async (to, rest) => {
      await sqlite.backup(db, to, { rate: PORTION_PAGES, progress: rest });
    },
    close: () => db.close(),
    prepare(sql) {
      const statement = db.prepare(sql);
      statement.setReturnArrays(true);
      const exact = isSelect(sql) ? createExactStatement(db, sql, statement) : null;
      const all = (values: readonly SqlValue[]): SqlValue[][] => {
        const rows = statement.all(...values);
        return exact !== null && rows.some(hasReplacementCharacter) ? exact.all(values) : rows;
      };
      return {
        all,
        page: all,
        get: (values) => {
          const row = statement.get(...values);
          return exact !== null && row !== undefined && hasReplacementCharacter(row) ? exact.get(values) : row;
        },
        run: (values) => {
          // Full-text tables push the last row number beyond a safe integer; Node 26 then throws.
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
const hasReplacementCharacter = (row: readonly SqlValue[]): boolean =>
  row.some((value) => typeof value === 'string' && value.includes('\ufffd'));

function createExactStatement(db: NodeDatabase, sql: string, plain: NodeStatement): Pick<Statement, 'all' | 'get'> {
  let prepared: NodeStatement | undefined;
  const strict = (): NodeStatement => {
    if (prepared === undefined) {
      prepared = db.prepare(buildStrictSql(sql, plain.columns().length));
      prepared.setReturnArrays(true);
    }
    return prepared;
  };
  return {
    all: (values) =>
      strict()
        .all(...values)
        .map(restoreRow),
    get: (values) => {
      const row = strict().get(...values);
      return row && restoreRow(row);
    },
  };
}
