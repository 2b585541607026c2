/**
 * Fields that a contract names and that this version does not have yet, all in one place: what is built leaves this
 * list. To take one and do nothing about it silently would be a lie (contract 00, envelope: used, or told).
 */
import joi, { type Schema } from 'joi';

const FIELDS = {
  /**
   * Contract 21, beyond the specification: people affected. Reports with it were always taken, and a report is worth
   * more than a field of it: the answer's `warnings` name it.
   */
  report: ['user'],
} as const;

const leftOut = joi.any().strip().meta({ unsupported: true });

/** Keys of a schema: taken, left out, and told in `warnings` of the answer (`lib/unknown-fields.ts`). */
export const leftOutAndTold = (of: keyof typeof FIELDS): Record<string, Schema> =>
  Object.fromEntries(FIELDS[of].map((name) => [name, leftOut]));
