/**
 * User of an event (contract 21, people affected). Only a keyed hash is stored, so identifying
 * fields are removed from the context.
 */
import type { Json } from '../../ports/store.js';
import { line, record, shallow } from './values.js';

const NAMES = ['id', 'email', 'username', 'ip_address'] as const;
const NAMING: ReadonlySet<string> = new Set([...NAMES, 'name']);
/** Browser SDKs do not know their address and leave it to the service. */
const SENDER = '{{auto}}';

export function userOf(value: unknown, address: string | null): { id: string } | null {
  const user = record(value);
  if (user === null) return null;
  for (const name of NAMES) {
    const given = user[name];
    const named = typeof given === 'number' ? String(given) : line(given)?.trim();
    const id = name === 'ip_address' && named === SENDER ? address : named;
    if (id) return { id };
  }
  return null;
}

export function aboutUser(value: unknown): Json | null {
  const user = record(value);
  if (user === null) return null;
  const rest = Object.entries(user).filter(([name]) => !NAMING.has(name));
  return rest.length === 0 ? null : shallow(Object.fromEntries(rest));
}
