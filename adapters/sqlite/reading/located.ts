/** Which document is damaged, where neither SQLite's error nor what is left of its text says it. */
import type { Connection } from '../connection/connection.js';
import { DamagedText, isMalformed } from '../driver/damage.js';

/** Documents that are searched at the most, so that a failing call does not hold its thread for long. */
const LOOKED_AT = 20_000;

/** The error, or one that names the first damaged document. */
export function located(connection: Connection, name: string, error: unknown): unknown {
  if (!isMalformed(error) && !(error instanceof DamagedText && error.id === null)) return error;
  const bodies = `SELECT id, body FROM "${name}" LIMIT ?`;
  const sql = `SELECT id FROM (${bodies}) WHERE NOT json_valid(body) LIMIT 1`;
  try {
    const [id] = connection.prepare(sql).get([LOOKED_AT]) ?? [];
    return typeof id === 'string' ? new DamagedText('it is no JSON', id, { cause: error }) : error;
  } catch {
    // There is more damage: the first error tells of it.
    return error;
  }
}
