/**
 * What a large table still lacks of its indexes (later.ts), in a table of its own: `~later`. A column that is being filled is written with
 * its document and not read.
 */
import type { IndexSpec } from '../../../ports/store.js';
import type { Driver } from '../driver.js';

/** A connection, as far as this needs one. */
type Statements = Pick<Driver, 'prepare'>;

export interface Later {
  /** Columns that are being filled. */
  paths: readonly string[];
  /** Indexes to make after that. */
  indexes: readonly IndexSpec[];
}

export const LATER = '"~later"';

const hasLater = (connection: Statements): boolean =>
  connection.prepare(`SELECT 1 FROM sqlite_master WHERE name = '~later'`).get([]) !== undefined;

export function laterOf(connection: Statements, name: string): Later | null {
  if (!hasLater(connection)) return null;
  const [what] = connection.prepare(`SELECT what FROM ${LATER} WHERE collection = ?`).get([name]) ?? [];
  return what === undefined ? null : (JSON.parse(what as string) as Later);
}

export function tablesWithLater(connection: Statements): string[] {
  if (!hasLater(connection)) return [];
  return connection
    .prepare(`SELECT collection FROM ${LATER}`)
    .all([])
    .map(([name]) => String(name));
}

/** Up to which id the columns are filled. */
export function filledTo(connection: Statements, name: string): string {
  const [id = ''] = connection.prepare(`SELECT filled_to FROM ${LATER} WHERE collection = ?`).get([name]) ?? [];
  return id as string;
}
