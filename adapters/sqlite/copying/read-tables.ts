import { statSync } from 'node:fs';
import { invalid } from '../../../kernel/errors.js';
import { openReadOnly } from '../driver/open.js';
import { DamagedTextError } from '../driver/damage.js';
import { isBusyError, getOpenFailureReason, getResultCode, type Driver, type SqlValue } from '../driver/driver.js';

const BUSY_TIMEOUT_MS = 15_000;
const TABLE_NAME_PATTERN = /^[a-z_]{1,64}$/;
const MAX_ROWS_BYTES = 16 * 1024 * 1024;

type Row = Record<string, SqlValue>;

/**
 * Does not change the file.
 * @returns rows by table, in row order
 * @throws ServiceError validation_failed when SQLite cannot read the file or the rows are too large
 * @throws TypeError for a name that needs quotes
 */
export function readTables(path: string, tables: readonly string[]): Record<string, Row[]> {
  statSync(path);
  let driver: Driver | undefined;
  try {
    driver = openReadOnly(path);
    driver.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    driver.exec('BEGIN');
    return readTablesFrom(driver, tables);
  } catch (error) {
    if (getResultCode(error) === 0 && !(error instanceof DamagedTextError)) throw error;
    const reason = isBusyError(error) ? 'it is in use' : (getOpenFailureReason(error) ?? (error as Error).message);
    throw invalid({ file: `cannot be read as a database: ${reason}` });
  } finally {
    driver?.close();
  }
}

function readTablesFrom(driver: Driver, tables: readonly string[]): Record<string, Row[]> {
  const found: Record<string, Row[]> = {};
  let bytes = 0;
  for (const table of tables) {
    if (!TABLE_NAME_PATTERN.test(table)) throw new TypeError(`${table} is not a table name`);
    // A view may compute rows endlessly.
    if (driver.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get([table]) === undefined)
      continue;
    const columns = driver
      .prepare(`PRAGMA table_info(${table})`)
      .all([])
      .map(([, name]) => String(name));
    const quoted = columns.map((name) => `"${name.replaceAll('"', '""')}"`);
    const sizes = quoted.map((name) => `coalesce(length(CAST(${name} AS BLOB)), 0)`).join(' + ');
    const [rowCount, size] = driver.prepare(`SELECT count(*), total(${sizes}) FROM ${table}`).get([]) ?? [];
    // Empty values use memory too.
    bytes += Number(size) + Number(rowCount) * columns.length;
    if (bytes > MAX_ROWS_BYTES)
      throw invalid({
        file: `contains more than ${MAX_ROWS_BYTES / 1024 / 1024} MiB in the tables ${tables.join(', ')}`,
      });
    const rows = driver.prepare(`SELECT ${quoted.join()} FROM ${table} ORDER BY rowid`).all([]);
    found[table] = rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at] ?? null])));
  }
  return found;
}
