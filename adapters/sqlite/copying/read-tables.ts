/** Tables of a database of another program, which an import reads. */
import { statSync } from 'node:fs';
import { openDriver } from '../driver/open.js';
import type { Value } from '../driver/driver.js';

const BUSY_MS = 15_000;
const NAME = /^[a-z_]{1,64}$/;

/**
 * @returns rows by table, in order of their numbers, of those tables that it has
 * @throws what SQLite says; TypeError for a name that needs quotes
 */
export function readTables(path: string, tables: readonly string[]): Record<string, Record<string, Value>[]> {
  // SQLite would create a missing file.
  statSync(path);
  const driver = openDriver(path);
  try {
    driver.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    driver.exec('PRAGMA query_only = 1');
    const found: Record<string, Record<string, Value>[]> = {};
    for (const table of tables) {
      if (!NAME.test(table)) throw new TypeError(`${table} is no name of a table`);
      const columns = driver
        .prepare(`PRAGMA table_info(${table})`)
        .all([])
        .map(([, name]) => String(name));
      if (columns.length === 0) continue;
      const list = columns.map((name) => `"${name.replaceAll('"', '""')}"`).join();
      const rows = driver.prepare(`SELECT ${list} FROM ${table} ORDER BY rowid`).all([]);
      found[table] = rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at] ?? null])));
    }
    return found;
  } finally {
    driver.close();
  }
}
