/**
 * Triggers, views, generated columns, checks and functions in indexes would run with the next
 * write. Damaged pages are accepted, because the rest can be served.
 */
import { statSync } from 'node:fs';
import { openReadOnly } from '../driver/open.js';
import { getOpenFailureReason, type Driver } from '../driver/driver.js';

const MAX_SCHEMA_ENTRIES = 10_000;
const MAX_DEFINITION_LENGTH = 64 * 1024;
const MIGRATIONS_TABLE = 'kernel_migrations';

const QUOTED_PATTERN = /"[^"]*"|'[^']*'/g;
const VIRTUAL_TABLE_PATTERN =
  /^CREATE VIRTUAL TABLE "[a-z][a-z0-9_]*:\w+" USING fts5\(\w+, content='', contentless_delete=1, detail=none, tokenize='(?:ascii|trigram case_sensitive 1)'\)$/;
const PLAIN_DEFINITION_PATTERN = /^CREATE (?:TABLE|(?:UNIQUE )?INDEX)[\w\s]*\([^()]*\)[^()]*$/;
const COMPOSITE_KEY_PATTERN = /PRIMARY KEY ?\([\w\s,]*\)/;

export function checkStoreFile(path: string): string | null {
  try {
    const driver = openReadOnly(path);
    try {
      return findFault(driver, statSync(path).size);
    } finally {
      driver.close();
    }
  } catch (error) {
    return `that is not a store: ${getOpenFailureReason(error) ?? (error as Error).message.split('\n', 1)[0]}`;
  }
}

function findFault(driver: Driver, size: number): string | null {
  driver.exec('PRAGMA trusted_schema = OFF');
  const [n, longest] = driver.prepare('SELECT count(*), max(length(sql)) FROM sqlite_master').get([]) ?? [];
  if (Number(n) > MAX_SCHEMA_ENTRIES || Number(longest) > MAX_DEFINITION_LENGTH)
    return `that is not an AOS store: its schema is too large`;
  const [pages] =
    driver.prepare('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size').get([]) ?? [];
  if (Number(pages) !== size) return 'that is truncated';
  const entries = driver.prepare('SELECT type, name, sql FROM sqlite_master').all([]);
  const odd = entries.find(([type, , sql]) => !isAosSchemaEntry(String(type), sql === null ? null : String(sql)));
  if (odd !== undefined)
    return `that is not an AOS store: it has the ${String(odd[0])} ${JSON.stringify(String(odd[1]).slice(0, 100))}, which AOS did not create`;
  return entries.some(([, name]) => name === MIGRATIONS_TABLE) ? null : 'that is not an AOS store';
}

function isAosSchemaEntry(type: string, sql: string | null): boolean {
  if (sql === null) return type === 'index';
  if (type !== 'table' && type !== 'index') return false;
  return (
    VIRTUAL_TABLE_PATTERN.test(sql) ||
    PLAIN_DEFINITION_PATTERN.test(sql.replaceAll(QUOTED_PATTERN, '').replace(COMPOSITE_KEY_PATTERN, ''))
  );
}
