/**
 * The bytes column's name contains the field, so that every connection can read it from the schema.
 */
import type { Driver } from '../driver/driver.js';

const BYTES_COLUMN_PREFIX = '~bytes:';

export const toBytesColumn = (field: string): string => `"${BYTES_COLUMN_PREFIX}${field}"`;

export const findBytesField = (columns: readonly string[]): string | undefined =>
  columns.find((column) => column.startsWith(BYTES_COLUMN_PREFIX))?.slice(BYTES_COLUMN_PREFIX.length);

export function readBytesField(connection: Pick<Driver, 'prepare'>, name: string): string | undefined {
  return findBytesField(connection.prepare('SELECT name FROM pragma_table_info(?)').all([name]).map(String));
}
