/** Driver on `libsql`, for Node 20, which lacks `node:sqlite`. */
import { open } from 'node:fs/promises';
import Database from 'libsql';
import type { Driver, SqlValue } from './driver.js';
import { buildPackedSql, unpackRows } from './packed.js';
import { restoreRow, isSelect, buildStrictSql } from './strict.js';

/** libsql binds a typed array only when it is a Buffer. */
function toBoundValues(values: readonly SqlValue[]): SqlValue[] {
  return values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value));
}

export function openLibsql(path: string): Driver {
  const db = new Database(path);
  return {
    exec: (sql) => {
      db.exec(sql);
    },
    isInTransaction: () => db.inTransaction,
    copyTo: (to, rest) => copyPages(db, to, rest),
    close: () => {
      db.close();
    },
    prepare(sql) {
      const plain = db.prepare(sql);
      const stored = isSelect(sql);
      const statement = stored ? db.prepare(buildStrictSql(sql, plain.columns().length)) : plain;
      // Object rows would include `_metadata`.
      if (statement.reader) statement.raw(true);
      const exact = stored ? restoreRow : (row: SqlValue[]) => row;
      const all = (values: readonly SqlValue[]): SqlValue[][] =>
        (statement.all(toBoundValues(values)) as SqlValue[][]).map(exact);
      let packed: Database.Statement | undefined;
      return {
        all,
        page: (values) => {
          packed ??= db.prepare(buildPackedSql(sql, plain.columns().length)).raw(true);
          return unpackRows(packed.get(toBoundValues(values)) as SqlValue[]) ?? all(values);
        },
        get: (values) => {
          const row = statement.get(toBoundValues(values)) as SqlValue[] | undefined;
          return row && exact(row);
        },
        run: (values) => statement.run(toBoundValues(values)).changes,
      };
    },
  };
}

const PORTION_PAGES = 256;

/** libsql has no online backup, so pages are copied one by one from SQLite's page table. */
async function copyPages(db: Database.Database, to: string, rest: () => void): Promise<void> {
  const [[pages = 0] = []] = db.prepare('PRAGMA page_count').raw(true).all() as number[][];
  const page = db.prepare('SELECT data FROM sqlite_dbpage WHERE pgno = ?').raw(true);
  const file = await open(to, 'wx', 0o600);
  try {
    for (let first = 1; first <= pages; first += PORTION_PAGES) {
      const portion: Buffer[] = [];
      for (let n = first; n < first + PORTION_PAGES && n <= pages; n++) portion.push((page.get([n]) as [Buffer])[0]);
      await file.appendFile(Buffer.concat(portion));
      rest();
    }
  } finally {
    await file.close();
  }
}
