import type { Connection } from '../connection/connection.js';
import { DamagedText, isMalformed } from '../driver/damage.js';

/** Limits the search, so that a failing call does not block its thread for long. */
const LOOKED_AT = 20_000;

export function located(connection: Connection, name: string, error: unknown): unknown {
  if (!isMalformed(error) && !(error instanceof DamagedText && error.id === null)) return error;
  const bodies = `SELECT id, body FROM "${name}" LIMIT ?`;
  const sql = `SELECT id FROM (${bodies}) WHERE NOT json_valid(body) LIMIT 1`;
  try {
    const [id] = connection.prepare(sql).get([LOOKED_AT]) ?? [];
    return typeof id === 'string' ? new DamagedText('it is no JSON', id, { cause: error }) : error;
  } catch {
    // Report the first error; there is more damage.
    return error;
  }
}
