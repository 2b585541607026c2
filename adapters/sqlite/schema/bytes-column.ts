/** The column of a collection's bytes; its name says which field they are, so that every connection learns it. */
import type { Driver } from '../driver/driver.js';

const PREFIX = '~bytes:';

export const bytesColumn = (field: string): string => `"${PREFIX}${field}"`;

/** The field among the names of a table's columns; undefined: the collection has none. */
export const bytesFieldIn = (columns: readonly string[]): string | undefined =>
  columns.find((column) => column.startsWith(PREFIX))?.slice(PREFIX.length);

export function bytesField(connection: Pick<Driver, 'prepare'>, name: string): string | undefined {
  return bytesFieldIn(connection.prepare('SELECT name FROM pragma_table_info(?)').all([name]).map(String));
}
