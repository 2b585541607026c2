/** Version of the table layout, stored in the file. Files with another layout are rejected. */
import type { Driver } from '../driver/driver.js';
import { readDeclaration, type StatementSource } from './declarations.js';

const FORMAT_VERSION = 2;

export const writeFormatVersion = (driver: Pick<Driver, 'exec'>): void =>
  driver.exec(`PRAGMA user_version = ${FORMAT_VERSION}`);

/** @throws Error that describes the file */
export function checkFormatVersion(connection: StatementSource): void {
  const tables = connection.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all([]);
  const [version] = connection.prepare('PRAGMA user_version').get([]) ?? [];
  if (tables.length > 0 && version !== FORMAT_VERSION)
    throw new Error(
      `its tables have layout ${String(version)}, but this version reads layout ${FORMAT_VERSION}: export it with the version that created it, and import it`,
    );
  // The schema may fit on the first page: this read detects a file that is truncated after it.
  readDeclaration(connection, '');
}
