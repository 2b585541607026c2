/**
 * Only a keyed hash is stored, so identifying fields are removed from the context (contract 21,
 * people affected).
 */
import type { Json } from '../../ports/store/index.js';
import { toLine, toRecord, limitDepth } from './untyped-values.js';

const IDENTIFYING_FIELDS = ['id', 'email', 'username', 'ip_address'] as const;
const EXCLUDED_USER_FIELDS: ReadonlySet<string> = new Set([...IDENTIFYING_FIELDS, 'name']);
/** Browser SDKs do not know their address. */
const SENDER_PLACEHOLDER = '{{auto}}';

export function findUser(value: unknown, address: string | null): { id: string } | null {
  const user = toRecord(value);
  if (user === null) return null;
  for (const name of IDENTIFYING_FIELDS) {
    const given = user[name];
    const named = typeof given === 'number' ? String(given) : toLine(given)?.trim();
    const id = name === 'ip_address' && named === SENDER_PLACEHOLDER ? address : named;
    if (id) return { id };
  }
  return null;
}

export function getUserDetails(value: unknown): Json | null {
  const user = toRecord(value);
  if (user === null) return null;
  const rest = Object.entries(user).filter(([name]) => !EXCLUDED_USER_FIELDS.has(name));
  return rest.length === 0 ? null : limitDepth(Object.fromEntries(rest));
}
