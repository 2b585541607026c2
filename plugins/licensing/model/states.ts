import { refusals, type ErrorCatalog } from '../../../kernel/contract/index.js';
import { conflict, ServiceError } from '../../../kernel/errors.js';

export const LICENSE_ERRORS = {
  final_state: [409, 'The license is revoked; this is final.', 'The license is revoked'],
} as const satisfies ErrorCatalog;

const createLicenseError = refusals(LICENSE_ERRORS);

export const STORED_STATES = ['pending', 'active', 'inactive', 'revoked'] as const;
export type StoredState = (typeof STORED_STATES)[number];
export const LICENSE_STATES = [...STORED_STATES, 'expired'] as const;
export type LicenseState = (typeof LICENSE_STATES)[number];

export const LICENSE_TRANSITIONS = ['approve', 'reject', 'deactivate', 'reactivate', 'revoke', 'extend'] as const;
export type LicenseTransition = (typeof LICENSE_TRANSITIONS)[number];

const TRANSITION_TABLE: Readonly<Record<LicenseTransition, Partial<Record<StoredState, StoredState>>>> = {
  approve: { pending: 'active' },
  reject: { pending: 'revoked' },
  deactivate: { active: 'inactive' },
  reactivate: { inactive: 'active' },
  revoke: { active: 'revoked', inactive: 'revoked' },
  extend: { pending: 'pending', active: 'active', inactive: 'inactive' },
};

export const getNextState = (state: StoredState, move: LicenseTransition): StoredState | null =>
  TRANSITION_TABLE[move][state] ?? null;

export const listTransitions = (state: StoredState): LicenseTransition[] =>
  LICENSE_TRANSITIONS.filter((move) => getNextState(state, move) !== null);

/** @param now milliseconds since 1970 */
export function getLicenseState(
  license: { status: StoredState; expires_at: string | null },
  now: number,
): LicenseState {
  const { status, expires_at } = license;
  return status === 'active' && expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : status;
}

/** Returns 409 `final_state` for a revoked license, else 409 `invalid_transition`. */
export function createTransitionError(state: StoredState, move: LicenseTransition | 'change'): ServiceError {
  if (state === 'revoked') return createLicenseError('final_state', 'The license is revoked; this is final.');
  if (move === 'change') return conflict('The license was changed meanwhile. Reload it.');
  const from = Object.keys(TRANSITION_TABLE[move]).join(' or ');
  return new ServiceError('invalid_transition', `The license is ${state}; ${move} requires status ${from}.`);
}
