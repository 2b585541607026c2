/**
 * The bytes column of a collection. Its name contains the field, so that every connection can read
 * it from the schema.
 */
import type { Driver } from '../driver/driver.js';

const PREFIX = '~bytes:';

export const bytesColumn = (field: string): string => `"${PREFIX}${field}"`;

export const bytesFieldIn = (columns: readonly string[]): string | undefined =>
  columns.find((column) => column.startsWith(PREFIX))?.slice(PREFIX.length);

export function bytesField(connection: Pick<Driver, 'prepare'>, name: string): string | undefined {
  return bytesFieldIn(connection.prepare('SELECT name FROM pragma_table_info(?)').all([name]).map(String));
}
