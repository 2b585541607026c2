/** Shapes of answers that every plugin shares (contract 00, lists). */
import joi, { type ObjectSchema, type Schema } from 'joi';
import { named } from '../ports/http.js';

/** An object in which every field is there, whatever it holds. */
export const whole = (fields: Readonly<Record<string, Schema>>): ObjectSchema =>
  joi.object(Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.required()])));

/** A page of a list. @param name `WebhookPage` */
export const pageOf = (name: string, item: Schema): ObjectSchema =>
  named(
    name,
    joi.object({
      items: joi.array().items(item).required(),
      next_cursor: joi.string().allow(null).required().description('For the next page; null: this is the last'),
      has_more: joi.boolean().required(),
      total: joi.number().integer().min(0).description('With `include_total=true`'),
    }),
  );

/** What is answered once something is gone. */
export const deleted = named('Deleted', joi.object({ deleted: joi.boolean().required() }));
