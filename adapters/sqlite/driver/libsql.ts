/** The driver over `libsql`, for Node 20, which has no SQLite of its own. */
import Database from 'libsql';
import type { Driver, Value } from './driver.js';

/** libsql binds a typed array only when it is a Buffer. */
function bound(values: readonly Value[]): Value[] {
  return values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value));
}

export function openLibsql(path: string): Driver {
  const db = new Database(path);
  return {
    exec: (sql) => {
      db.exec(sql);
    },
    inTransaction: () => db.inTransaction,
    close: () => {
      db.close();
    },
    prepare(sql) {
      const statement = db.prepare(sql);
      // Rows as objects carry a `_metadata` of the driver's own; statements without columns refuse the switch.
      if (statement.reader) statement.raw(true);
      return {
        all: (values) => statement.all(bound(values)) as Value[][],
        get: (values) => statement.get(bound(values)) as Value[] | undefined,
        run: (values) => statement.run(bound(values)).changes,
      };
    },
  };
}
