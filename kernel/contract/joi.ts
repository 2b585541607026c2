import Joi from 'joi';

declare module 'joi' {
  interface StringSchema {
    /**
     * Marks a setting as a secret: its value is masked in everything that the service logs, stores
     * or shows.
     */
    secret(): this;
  }
}

const isSecret = (schema: Joi.Schema): boolean =>
  (schema.$_terms['metas'] as { secret?: boolean }[] | undefined)?.some(({ secret }) => secret === true) === true;

/** The service's joi instance. joi rejects schemas created by another version. */
export const joi = Joi.extend((root: Joi.Root) => ({
  type: 'string',
  base: root.string(),
  rules: {
    secret: {
      method(this: Joi.StringSchema): Joi.StringSchema {
        return this.meta({ secret: true });
      },
    },
  },
})) as Joi.Root;

/** A member may match several schemas. */
function listMembers({ $_terms: terms }: Joi.Schema, value: object): [schema: Joi.Schema, member: unknown][] {
  const list = <T>(name: string): T[] => (terms[name] ?? []) as T[];
  if (Array.isArray(value)) {
    const items = [...list<Joi.Schema>('items'), ...list<Joi.Schema>('ordered')];
    return value.flatMap((member) => items.map((item): [Joi.Schema, unknown] => [item, member]));
  }
  const keys = list<{ key: string; schema: Joi.Schema }>('keys');
  const rules = list<{ rule: Joi.Schema }>('patterns').map(({ rule }) => rule);
  return Object.entries(value).flatMap(([name, member]) => {
    const own = keys.filter(({ key }) => key === name).map(({ schema }) => schema);
    return (own.length > 0 ? own : rules).map((schema): [Joi.Schema, unknown] => [schema, member]);
  });
}

/** Alternatives and conditions. */
function listAlternatives({ $_terms: terms }: Joi.Schema): Joi.Schema[] {
  const cases = [...((terms['matches'] ?? []) as ConditionCase[]), ...((terms['whens'] ?? []) as ConditionCase[])];
  return cases
    .flatMap((one) => [one].concat(one.switch ?? []))
    .flatMap(({ schema, then, otherwise }) => [schema, then, otherwise])
    .filter((schema) => schema !== undefined);
}

interface ConditionCase {
  schema?: Joi.Schema;
  then?: Joi.Schema;
  otherwise?: Joi.Schema;
  switch?: ConditionCase[];
}

/** Returns the secret texts of a section. */
export function findSecrets(schema: Joi.Schema, value: unknown): string[] {
  if (value === null || value === undefined || value === '') return [];
  const others = listAlternatives(schema).flatMap((other) => findSecrets(other, value));
  if (typeof value === 'string') return isSecret(schema) ? [value, ...others] : others;
  if (typeof value !== 'object') return others;
  return [...others, ...listMembers(schema, value).flatMap(([one, member]) => findSecrets(one, member))];
}
