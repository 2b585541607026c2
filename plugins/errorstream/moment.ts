/** Time in a body: RFC 3339 with offset, on an existing day (contract 00, names). */
import joi from 'joi';
import { stated } from '../../kernel/contract.js';
import { isTimestamp } from '../../lib/time.js';

const MAX_LENGTH = 40;

export const moment = stated(
  { format: 'date-time' },
  joi
    .string()
    .max(MAX_LENGTH)
    .custom((text: string, helpers) => (isTimestamp(text) ? text : helpers.error('any.invalid')))
    .messages({ 'any.invalid': 'must be an RFC 3339 timestamp, for example 2026-11-20T08:15:30.123Z' }),
);
