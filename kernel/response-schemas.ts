import joi, { type ObjectSchema, type Schema } from 'joi';
import { withSchemaName } from '../ports/http/index.js';

/** Creates an object schema in which every field is required. */
export const whole = (fields: Readonly<Record<string, Schema>>): ObjectSchema =>
  joi.object(Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.required()])));

/**
 * Creates the schema of a list page.
 * @param name for example `WebhookPage`
 */
export const createPageSchema = (name: string, item: Schema): ObjectSchema =>
  withSchemaName(
    name,
    joi.object({
      items: joi.array().items(item).required(),
      next_cursor: joi.string().allow(null).required().description('Cursor of the next page; null on the last page'),
      has_more: joi.boolean().required(),
      total: joi.number().integer().min(0).description('With `include_total=true`'),
    }),
  );

export const deleted = withSchemaName('Deleted', joi.object({ deleted: joi.boolean().required() }));

/** In answers about an object that an apply created (contract 97, apply). */
export const MANAGED_FIELD = joi
  .boolean()
  .valid(true)
  .description('Set if an apply created the object; otherwise absent');
