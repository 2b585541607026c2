/** The error codes of the watchdog (contract 30, heartbeat). */
import { refusals, type Catalogue } from '../../kernel/contract.js';

export const ERRORS = {
  source_mismatch: [403, 'A `wd_live_` token was used for another source than its own.'],
} as const satisfies Catalogue;

export const refusal = refusals(ERRORS);
