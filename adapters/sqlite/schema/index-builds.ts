/**
 * What a large table still lacks of its indexes (../indexing/building.ts), in a table of its own: `~later`. A column
 * that is being filled is written with its document and not read.
 */
import type { IndexShape } from './labels.js';
import type { Driver } from '../driver/driver.js';

/** The part of a connection that this needs. */
type Statements = Pick<Driver, 'prepare'>;

export interface IndexBuild {
  /** Columns that are being filled. */
  paths: readonly string[];
  /** Indexes to make after that. */
  indexes: readonly IndexShape[];
}

export const BUILDS = '"~later"';

const hasBuilds = (connection: Statements): boolean =>
  connection.prepare(`SELECT 1 FROM sqlite_master WHERE name = '~later'`).get([]) !== undefined;

export function buildOf(connection: Statements, name: string): IndexBuild | null {
  if (!hasBuilds(connection)) return null;
  const [what] = connection.prepare(`SELECT what FROM ${BUILDS} WHERE collection = ?`).get([name]) ?? [];
  if (what === undefined) return null;
  const { paths, indexes } = JSON.parse(what as string) as IndexBuild;
  return { paths, indexes: indexes.map(shapeNow) };
}

/** An earlier version wrote the needed field as `sparse`, with true for the first one. */
function shapeNow({ sparse, ...index }: IndexShape & { sparse?: boolean | string }): IndexShape {
  const needed = sparse === true ? index.fields[0] : sparse;
  return typeof needed === 'string' ? { ...index, needed } : index;
}

export function tablesWithBuilds(connection: Statements): string[] {
  if (!hasBuilds(connection)) return [];
  return connection
    .prepare(`SELECT collection FROM ${BUILDS}`)
    .all([])
    .map(([name]) => String(name));
}

/** Up to which id the columns are filled. */
export function filledTo(connection: Statements, name: string): string {
  const [id = ''] = connection.prepare(`SELECT filled_to FROM ${BUILDS} WHERE collection = ?`).get([name]) ?? [];
  return id as string;
}
