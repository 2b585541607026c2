/**
 * Fields that a contract names and that this version does not have yet, all in one place: what is built leaves this
 * list. To take one and do nothing about it would be a lie, so it is refused (contract 00, envelope: used, or 422).
 */
import joi, { type Schema } from 'joi';

const FIELDS = {
  /** Contract 20, endpoints and hold. */
  item: ['type', 'hold'],
  /** Contract 20, transitions. */
  comment: ['keep_status'],
  /** Contract 20, leases. */
  next: ['wait_seconds'],
  /**
   * Contract 21, beyond the specification: people affected. Reports with it were always taken, and a report is worth
   * more than a field of it: the answer's `warnings` name it.
   */
  report: ['user'],
} as const;

type Unsupported = Record<string, Schema>;
const each = (of: keyof typeof FIELDS, schema: Schema): Unsupported =>
  Object.fromEntries(FIELDS[of].map((name) => [name, schema]));

const refusedOne = joi.any().forbidden().messages({ 'any.unknown': 'is not supported by this version; leave it out' });
const leftOut = joi.any().strip().meta({ unsupported: true });

/** Keys of a schema: 422 where one is given. */
export const refused = (of: Exclude<keyof typeof FIELDS, 'report'>): Unsupported => each(of, refusedOne);

/** Keys of a schema: taken, left out, and told in `warnings` of the answer (`lib/unknown-fields.ts`). */
export const leftOutAndTold = (of: 'report'): Unsupported => each(of, leftOut);
