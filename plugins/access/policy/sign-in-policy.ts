/** Which sign-in methods the configuration accepts (contract 97, OpenID Connect and passkeys). */
import { inject, injectable, token } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { capitalize } from '../../../lib/sentence.js';
import type { CredentialCheck } from '../../../ports/domain/access.js';
import type { Role } from '../../../ports/http/index.js';
import { hasSecondFactor, type Account } from '../model/account.js';

export type LoginPlace = Parameters<CredentialCheck['check']>[0]['place'];

export interface SignInSettings {
  /** `recovery`: only administrators, as a way in while the provider is unavailable. */
  local: boolean | 'recovery';
  second_factor: 'optional' | 'admins' | 'all';
  oidc: { issuer: string | null };
}

export const SIGN_IN_SETTINGS = token<SignInSettings>('access.sign_in_settings');

const ALLOWED_ROLES: Record<LoginPlace, readonly Role[]> = {
  web: ['admin', 'member'],
  setup: ['admin', 'installer'],
  release_store: ['admin', 'member', 'installer'],
};

export const createRoleError = (role: Role): ServiceError =>
  new ServiceError('role_not_allowed', `${capitalize(role)} accounts can’t sign in here.`);

@injectable()
export class SignInPolicy {
  constructor(@inject(SIGN_IN_SETTINGS) private readonly settings: SignInSettings) {}

  get local(): SignInSettings['local'] {
    return this.settings.local;
  }

  /** Programs read the release store with a password, whatever people sign in with. */
  isPasswordAccepted(place: LoginPlace): boolean {
    return place === 'release_store' || this.settings.local !== false;
  }

  /** @throws ServiceError password_disabled, before anything about the account is checked */
  requirePasswordSignIn(place: LoginPlace): void {
    if (!this.isPasswordAccepted(place)) throw createPasswordDisabledError();
  }

  /** @throws ServiceError role_not_allowed, password_disabled */
  requireRole(place: LoginPlace, role: Role): void {
    if (!ALLOWED_ROLES[place].includes(role)) throw createRoleError(role);
    if (place !== 'release_store' && !this.canUsePassword(role))
      throw new ServiceError('password_disabled', 'Only administrators can sign in with a password here.');
  }

  /** Whether an account with this role can sign in with a password. */
  canUsePassword(role: Role): boolean {
    return this.settings.local === true || (this.settings.local === 'recovery' && role === 'admin');
  }

  /** How a person with this role can sign in to the pages, or to the installer. */
  listSignInMethods(role: Role): { password: boolean; provider: boolean } {
    return {
      password: this.canUsePassword(role),
      provider: role !== 'installer' && this.settings.oidc.issuer !== null,
    };
  }

  /** @throws ServiceError password_disabled */
  requirePassword(role: Role): void {
    if (!this.canUsePassword(role)) throw createPasswordDisabledError();
  }

  isSecondFactorRequired(role: Role): boolean {
    return this.settings.second_factor === 'all' || (this.settings.second_factor === 'admins' && role === 'admin');
  }

  /** Whether the account must set up a second factor before anything else. */
  mustEnroll(account: Pick<Account, 'role' | 'totp_secret' | 'passkeys'>): boolean {
    return this.isSecondFactorRequired(account.role) && !hasSecondFactor(account);
  }
}

export const createPasswordDisabledError = (): ServiceError =>
  new ServiceError('password_disabled', 'Password sign-in is turned off. Use another sign-in method.');
