/** Version of the table layout, stored in the file. Files with another layout are rejected. */
import type { Driver } from '../driver/driver.js';
import { declaredIn, type Statements } from './declared.js';

const FORMAT = 2;

/** Call within the transaction that creates the first table. */
export const markFormat = (driver: Pick<Driver, 'exec'>): void => driver.exec(`PRAGMA user_version = ${FORMAT}`);

/** @throws Error that describes the file */
export function checkFormat(connection: Statements): void {
  const tables = connection.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all([]);
  const [version] = connection.prepare('PRAGMA user_version').get([]) ?? [];
  if (tables.length > 0 && version !== FORMAT)
    throw new Error(
      `its tables are of layout ${String(version)}, and this version reads layout ${FORMAT}: export it with the version that made it, and import it`,
    );
  // The schema may fit on the first page: this read detects a file that is truncated after it.
  declaredIn(connection, '');
}
