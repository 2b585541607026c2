/** Compares an entry of the document with the stored object. */
import type { ConfigFields } from '../../ports/domain/config/kinds.js';

export interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
}

const MASKED_VALUE = '(secret)';

export const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Null, an absent value and an empty text are equal. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (isAbsent(a) || isAbsent(b)) return isAbsent(a) && isAbsent(b);
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, at) => isSameValue(one, b[at]));
  if (!isObject(a) || !isObject(b) || Array.isArray(a) || Array.isArray(b)) return a === b;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => isSameValue(a[name], b[name]));
}

/**
 * Lists the fields of the entry that differ, secrets masked.
 * @param before null for a new object
 */
export function findFieldChanges(
  entry: ConfigFields,
  before: ConfigFields | null,
  secrets: readonly string[],
): FieldChange[] {
  return Object.entries(entry)
    .filter(([field, value]) => !isSameValue(value, before?.[field]))
    .map(([field, value]) => ({
      field,
      from: maskSecrets(field, before?.[field], secrets),
      to: maskSecrets(field, value, secrets),
    }));
}

function maskSecrets(field: string, value: unknown, secrets: readonly string[]): unknown {
  if (isAbsent(value)) return null;
  if (secrets.includes(field)) return MASKED_VALUE;
  if (!isObject(value) || Array.isArray(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    secrets.includes(`${field}.${name}`) && !isAbsent(member) ? MASKED_VALUE : member,
  ]);
  return Object.fromEntries(members);
}
