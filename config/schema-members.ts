import type joi from 'joi';

export function getSchemaMembers({ type, $_terms: terms }: joi.Schema): ReadonlyMap<string, joi.Schema> | null {
  const keys = (type === 'object' ? terms['keys'] : null) as readonly { key: string; schema: joi.Schema }[] | null;
  return keys && new Map(keys.map(({ key, schema }) => [key, schema]));
}

export const getSchemaMetas = ({ $_terms: terms }: joi.Schema): readonly { env?: string }[] =>
  (terms['metas'] ?? []) as readonly { env?: string }[];
