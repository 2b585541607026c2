import type { Doc } from '../../../kernel/contract/index.js';
import type { Role } from '../../../ports/http/index.js';
import { DAY_MS } from '../../../lib/time.js';

export const INVITATION_LIFETIME_MS = 7 * DAY_MS;

export interface Invitation extends Doc {
  /** SHA-256 of the token in the link; the token itself is never stored. */
  token_hash: string;
  email: string;
  email_key: string;
  full_name: string | null;
  role: Role;
  state: 'pending' | 'accepted' | 'revoked';
  /** Account that vouches for the role: of the inviter, or of the last one who sent it again. */
  invited_by_id: string;
  invited_by: string;
  created_at: string;
  expires_at: string;
  accepted_at: string | null;
}

export const INVITATION_INDEXES = [
  { fields: ['token_hash'], unique: true },
  { fields: ['state', 'created_at'] },
  { fields: ['email_key'] },
  { fields: ['expires_at'] },
];

/** For "invited as …". */
export const INVITED_ROLES: Readonly<Record<Role, string>> = {
  admin: 'an administrator',
  member: 'a member',
  installer: 'an installer',
};

const ROLE_RANKS: Readonly<Record<Role, number>> = { installer: 0, member: 1, admin: 2 };

export const isHigherRole = (role: Role, than: Role): boolean => ROLE_RANKS[role] > ROLE_RANKS[than];

/** Why a link does not work. */
export type InvitationFault = 'unknown' | 'accepted' | 'revoked' | 'expired' | 'inviter';

const FAULT_SENTENCES: Readonly<Record<InvitationFault, string>> = {
  unknown: 'This invitation link is no longer valid. Ask for a new one.',
  accepted: 'This invitation was already used.',
  revoked: 'This invitation was revoked.',
  expired: 'This invitation expired. Ask for a new one.',
  inviter: 'This invitation is no longer valid. Ask an administrator for a new one.',
};

export const getFaultSentence = (fault: InvitationFault): string => FAULT_SENTENCES[fault];
