/**
 * The members of an object schema, read where joi keeps them. joi's `describe()` walks the whole schema and judges its
 * own description as well, which was a twentieth of a start.
 */
import type joi from 'joi';

/** By name; null of a schema that names none. */
export function membersOf({ type, $_terms: terms }: joi.Schema): ReadonlyMap<string, joi.Schema> | null {
  const keys = (type === 'object' ? terms['keys'] : null) as readonly { key: string; schema: joi.Schema }[] | null;
  return keys && new Map(keys.map(({ key, schema }) => [key, schema]));
}

/** What `meta()` was told. */
export const metasOf = ({ $_terms: terms }: joi.Schema): readonly { env?: string }[] =>
  (terms['metas'] ?? []) as readonly { env?: string }[];
