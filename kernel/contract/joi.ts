/** The joi of plugins, with secret settings. */
import Joi from 'joi';

declare module 'joi' {
  interface StringSchema {
    /**
     * Marks a setting as a secret: its value is masked in every log line. The joi of `aos/plugin` has it.
     */
    secret(): this;
  }
}

const isSecret = (schema: Joi.Schema): boolean =>
  (schema.$_terms['metas'] as { secret?: boolean }[] | undefined)?.some(({ secret }) => secret === true) === true;

/** The service's joi: joi rejects schemas that another version of it created. */
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

/** The texts of a section that its schema marks as secrets. */
export function findSecrets(schema: Joi.Schema, value: unknown): string[] {
  if (typeof value === 'string') return isSecret(schema) && value !== '' ? [value] : [];
  if (value === null || typeof value !== 'object') return [];
  const keys = (schema.$_terms['keys'] ?? []) as { key: string; schema: Joi.Schema }[];
  if (!Array.isArray(value))
    return keys.flatMap((one) => findSecrets(one.schema, (value as Record<string, unknown>)[one.key]));
  const items = (schema.$_terms['items'] ?? []) as Joi.Schema[];
  return value.flatMap((member) => items.flatMap((item) => findSecrets(item, member)));
}
