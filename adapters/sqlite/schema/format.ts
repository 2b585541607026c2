/** The layout of the tables, as a number in the file: another layout is refused, and not read as if it were ours. */
import type { Driver } from '../driver/driver.js';
import { declaredIn, type Statements } from './declared.js';

const FORMAT = 2;

/** Within a transaction, with the first table. */
export const markFormat = (driver: Pick<Driver, 'exec'>): void => driver.exec(`PRAGMA user_version = ${FORMAT}`);

/** @throws Error that says what the file is */
export function checkFormat(connection: Statements): void {
  const tables = connection.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all([]);
  const [version] = connection.prepare('PRAGMA user_version').get([]) ?? [];
  if (tables.length > 0 && version !== FORMAT)
    throw new Error(
      `its tables are of layout ${String(version)}, and this version reads layout ${FORMAT}: export it with the version that made it, and import it`,
    );
  // The schema may lie on the first page alone: a file that is cut off behind it is no store.
  declaredIn(connection, '');
}
