/** RFC 3339 with offset, on an existing day (contract 00, names). */
import joi from 'joi';
import { withJsonSchema } from '../../kernel/contract/index.js';
import { isTimestamp } from '../../lib/time.js';

const MAX_TIME_LENGTH = 40;

export const timestampSchema = withJsonSchema(
  { format: 'date-time' },
  joi
    .string()
    .max(MAX_TIME_LENGTH)
    .custom((text: string, helpers) => (isTimestamp(text) ? text : helpers.error('any.invalid')))
    .messages({ 'any.invalid': 'must be an RFC 3339 timestamp, for example 2026-11-20T08:15:30.123Z' }),
);
