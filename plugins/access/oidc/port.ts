/** All that sign-in by OpenID Connect needs of accounts and sessions. */
import type { Role } from '../../../ports/http/index.js';
import type { AccountProfile } from '../accounts/profile.js';
import type { BrowserInfo } from '../login/session-opener.js';
import type { LoginStep } from '../login/login.js';
import type { ExternalIdentity } from '../model/account.js';

export interface LinkedAccount {
  id: string;
  username: string;
  role: Role;
  disabled: boolean;
}

export interface ExternalProfile extends AccountProfile {
  /** Wish for a new account, free text. */
  username: string;
}

export interface InvitedIdentity {
  identity: ExternalIdentity;
  profile: ExternalProfile;
  /** Verified by the provider. */
  email: string | null;
  /** From the groups; null: the invitation's. */
  role: Role | null;
}

export interface SignInPort {
  findByIdentity(identity: ExternalIdentity): Promise<LinkedAccount | null>;
  /**
   * Binds the one account with this verified address that is bound to none.
   * @returns null when there is not exactly one
   */
  linkByEmail(identity: ExternalIdentity, email: string): Promise<LinkedAccount | null>;
  /** Never an existing account: a taken name gets a number. */
  create(identity: ExternalIdentity, profile: ExternalProfile, role: Role): Promise<LinkedAccount>;
  /**
   * Creates the account of an invitation, with the provider's role or else the invited one.
   * @returns null when the invitation is for another address
   * @throws ServiceError sign_in_denied when the invitation ended
   */
  acceptInvitation(key: string, given: InvitedIdentity): Promise<LinkedAccount | null>;
  /** Keeps the role of the last active administrator. */
  setRole(account: LinkedAccount, role: Role): Promise<LinkedAccount>;
  setProfile(account: LinkedAccount, profile: AccountProfile): Promise<void>;
  /**
   * Continues with the second factor, or opens a session.
   * @param idToken for the provider's logout
   * @throws ServiceError role_not_allowed; sign_in_denied when the account is disabled
   */
  signIn(account: LinkedAccount, from: BrowserInfo, idToken: string): Promise<LoginStep>;
  recordDenial(account: LinkedAccount | null, from: BrowserInfo): void;
}
