import { refusals, type ErrorCatalog } from '../../kernel/contract/index.js';

export const ERRORS = {
  invalid_pattern: [
    422,
    'The regular expression is not supported by the linear-time engine.',
    'The pattern cannot be used',
  ],
} as const satisfies ErrorCatalog;

export const refusal = refusals(ERRORS);
