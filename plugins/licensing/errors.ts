/** The error codes of licensing (contract 50, states). */
import { refusals, type Catalogue } from '../../kernel/contract.js';

export const ERRORS = {
  final_state: [409, 'The license is revoked; this is final.'],
} as const satisfies Catalogue;

export const refusal = refusals(ERRORS);
