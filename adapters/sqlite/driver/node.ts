/** The driver over `node:sqlite` (Node 22.16 and newer). Its types are named here because Node 20's do not have them. */
import type { Driver, Value } from './driver.js';

interface NodeStatement {
  setReturnArrays(on: boolean): void;
  all(...values: Value[]): Value[][];
  get(...values: Value[]): Value[] | undefined;
  run(...values: Value[]): { changes: number | bigint };
  setReadBigInts(on: boolean): void;
}

interface NodeDatabase {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): NodeStatement;
  close(): void;
}

export interface NodeSqlite {
  DatabaseSync: new (path: string) => NodeDatabase;
}

export function openNode(sqlite: NodeSqlite, path: string): Driver {
  const db = new sqlite.DatabaseSync(path);
  return {
    exec: (sql) => db.exec(sql),
    inTransaction: () => db.isTransaction,
    close: () => db.close(),
    prepare(sql) {
      const statement = db.prepare(sql);
      statement.setReturnArrays(true);
      return {
        all: (values) => statement.all(...values),
        get: (values) => statement.get(...values),
        run: (values) => {
          // It answers the last row number too, which full text makes larger than a number holds: Node 26 throws then.
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
