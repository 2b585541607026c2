/** The states of a license and the moves between them (contract 50). Pure. */
import { refusals, type Catalogue } from '../../../kernel/contract.js';
import { conflict, ServiceError } from '../../../kernel/errors.js';

/** The error codes of licensing (contract 50, states). */
export const ERRORS = {
  final_state: [409, 'The license is revoked; this is final.', 'The license is revoked'],
} as const satisfies Catalogue;

const refusal = refusals(ERRORS);

export const STORED_STATES = ['pending', 'active', 'inactive', 'revoked'] as const;
export type StoredState = (typeof STORED_STATES)[number];
/** `expired` is derived: active, and past `expires_at`. */
export const STATES = [...STORED_STATES, 'expired'] as const;
export type LicenseState = (typeof STATES)[number];

export const MOVES = ['approve', 'reject', 'deactivate', 'reactivate', 'revoke', 'extend'] as const;
export type LicenseMove = (typeof MOVES)[number];

/** Maps a state to the next, for each move. A move that is missing here is refused. */
const TABLE: Readonly<Record<LicenseMove, Partial<Record<StoredState, StoredState>>>> = {
  approve: { pending: 'active' },
  reject: { pending: 'revoked' },
  deactivate: { active: 'inactive' },
  reactivate: { inactive: 'active' },
  revoke: { active: 'revoked', inactive: 'revoked' },
  extend: { pending: 'pending', active: 'active', inactive: 'inactive' },
};

/** The state after `move`; null when the move is not possible in this state. */
export const getNextState = (state: StoredState, move: LicenseMove): StoredState | null => TABLE[move][state] ?? null;

/** The moves that are possible in a state. */
export const listMoves = (state: StoredState): LicenseMove[] =>
  MOVES.filter((move) => getNextState(state, move) !== null);

/** @param now milliseconds since 1970 */
export function getLicenseState(
  license: { status: StoredState; expires_at: string | null },
  now: number,
): LicenseState {
  const { status, expires_at } = license;
  return status === 'active' && expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : status;
}

/** The refusal of a move: 409 `final_state` for a revoked license, else 409 `invalid_transition`. */
export function createMoveError(state: StoredState, move: LicenseMove | 'change'): ServiceError {
  if (state === 'revoked') return refusal('final_state', 'The license is revoked; this is final.');
  if (move === 'change') return conflict('The license was changed meanwhile. Read it again.');
  const from = Object.keys(TABLE[move]).join(' or ');
  return new ServiceError(
    'invalid_transition',
    `The license is ${state}; ${move} is possible only when it is ${from}.`,
  );
}
