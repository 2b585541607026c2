import type { Connection } from '../connection/connection.js';
import { DamagedTextError, isMalformedJsonError } from '../driver/damage.js';

/** A failing call must not block its thread for long. */
const MAX_SEARCHED_DOCUMENTS = 20_000;

export function locateDamage(connection: Connection, name: string, error: unknown): unknown {
  if (!isMalformedJsonError(error) && !(error instanceof DamagedTextError && error.id === null)) return error;
  const bodies = `SELECT id, body FROM "${name}" LIMIT ?`;
  const sql = `SELECT id FROM (${bodies}) WHERE NOT json_valid(body) LIMIT 1`;
  try {
    const [id] = connection.prepare(sql).get([MAX_SEARCHED_DOCUMENTS]) ?? [];
    return typeof id === 'string' ? new DamagedTextError('it is not valid JSON', id, { cause: error }) : error;
  } catch {
    return error;
  }
}
