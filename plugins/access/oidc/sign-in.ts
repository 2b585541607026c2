/**
 * Sign-in by OpenID Connect. The state of a sign-in is sealed in a cookie, so that it is bound to
 * the browser, and is redeemed once within ten minutes.
 */
import { timingSafeEqual } from 'node:crypto';
import { token } from '../../../kernel/contract/index.js';
import type { LoginStep } from '../login/login.js';
import type { BrowserInfo } from '../login/session-opener.js';
import type { ExternalIdentity } from '../model/account.js';
import type { OneTimeStates } from '../sessions/one-time-states.js';
import { isDomainAllowed, readGroups, readProfile, readVerifiedEmail, resolveRole, type Claims } from './claims.js';
import { refuseSignIn } from './errors.js';
import type { LinkedAccount, SignInPort } from './port.js';
import type { AuthorizationSecrets, OidcProvider, ProviderAnswer } from './provider.js';
import type { OidcSettings } from './settings.js';

export const OIDC_FLOW_LIFETIME_MS = 10 * 60_000;

interface Flow extends AuthorizationSecrets {
  next: string;
  /** Key of the invitation whose link began the sign-in. */
  invitation?: string;
}

const FLOW = token<Flow>('oidc');

export class OidcSignIn {
  constructor(
    private readonly settings: OidcSettings,
    private readonly provider: OidcProvider,
    private readonly states: OneTimeStates,
    private readonly accounts: SignInPort,
  ) {}

  /**
   * @param next page of this service
   * @param invitation key of the invitation to accept
   * @returns the provider's address, and the value of the browser's cookie
   */
  async begin(next: string, invitation?: string): Promise<{ url: string; cookie: string }> {
    const { url, secrets } = await this.provider.buildAuthorizationUrl();
    const flow = { ...secrets, next, ...(invitation !== undefined && { invitation }) };
    return { url, cookie: this.states.seal(FLOW, flow, OIDC_FLOW_LIFETIME_MS) };
  }

  /** @throws ServiceError sign_in_failed, sign_in_denied, role_not_allowed, provider_unavailable */
  async complete(
    parameters: URLSearchParams,
    cookie: string | undefined,
    from: BrowserInfo,
  ): Promise<{ step: LoginStep; next: string }> {
    const begun = this.states.read(FLOW, cookie);
    // Before the state is redeemed: another site cannot end a sign-in that is under way.
    if (begun === null || !isEqualText(parameters.get('state') ?? '', begun.state)) throw createEndedError();
    if ((await this.states.redeem(FLOW, cookie)) === null) throw createEndedError();
    const answer = await this.provider.exchange(parameters, begun);
    const account = await this.#findAccount(answer, from, begun.invitation);
    return { step: await this.accounts.signIn(account, from, answer.idToken), next: begun.next };
  }

  async #findAccount(answer: ProviderAnswer, from: BrowserInfo, invitation?: string): Promise<LinkedAccount> {
    const { claims, issuer, subject } = answer;
    const identity = { issuer, subject };
    const bound = await this.accounts.findByIdentity(identity);
    const deny = (message: string): Error => {
      this.accounts.recordDenial(bound, from);
      return refuseSignIn('sign_in_denied', message);
    };
    if (!isDomainAllowed(readVerifiedEmail(claims), this.settings.allowed_domains))
      throw deny('Your e-mail address isn’t verified or its domain isn’t allowed here.');
    if (bound?.disabled) throw deny('Your account is disabled. Ask an administrator.');
    const role = resolveRole(readGroups(claims, this.settings.role_claim), this.settings);
    // Without a map, administrators give the roles here.
    const isRoleManaged = Object.keys(this.settings.role_map).length > 0;
    const denyRole = (): Error => deny('None of your groups has a role here. Ask an administrator for access.');
    if (role === null && isRoleManaged) throw denyRole();
    const known = bound ?? (await this.#linkByEmail(identity, claims));
    if (known?.disabled) throw deny('Your account is disabled. Ask an administrator.');
    const profile = readProfile(claims, subject);
    if (known === null && invitation !== undefined) {
      const email = readVerifiedEmail(claims);
      const invited = await this.accounts.acceptInvitation(invitation, { identity, profile, email, role });
      if (invited === null) throw deny('The verified e-mail address of this sign-in isn’t the invited one.');
      return invited;
    }
    if (known === null) {
      if (!this.settings.create_accounts) throw deny('You have no account here. Ask an administrator to create one.');
      if (role === null) throw denyRole();
      return this.accounts.create(identity, profile, role);
    }
    await this.accounts.setProfile(known, profile);
    return role === null ? known : this.accounts.setRole(known, role);
  }

  async #linkByEmail(identity: ExternalIdentity, claims: Claims): Promise<LinkedAccount | null> {
    const email = this.settings.link_by_email ? readVerifiedEmail(claims) : null;
    return email === null ? null : this.accounts.linkByEmail(identity, email);
  }
}

function isEqualText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

const createEndedError = (): Error =>
  refuseSignIn('sign_in_failed', 'This sign-in expired, was used before, or began in another browser. Start again.');
