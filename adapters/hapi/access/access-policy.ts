import type { Access, AccessRule, BasicGuard, Principal } from '../../../ports/http/index.js';
import { Failure } from '../wire/failure.js';

const SETUP_SCOPE = 'setup:install';

export class AccessPolicy {
  readonly public: boolean;
  readonly session: 'admin' | 'member' | null;
  readonly basic: BasicGuard | null;
  readonly #scopes: readonly string[];
  /** `:manage` implies `:read`. */
  readonly #accepted: ReadonlySet<string>;
  readonly #setup: boolean;
  readonly #intake: boolean;
  readonly #anyToken: boolean;
  readonly #sharedKey: boolean;
  readonly #scopeFailure: Failure;

  constructor(
    access: Access,
    private readonly bare = false,
    private readonly duringEnrollment = false,
  ) {
    const rules: readonly AccessRule[] = access === 'public' ? [] : isRuleList(access) ? access : [access];
    if (access !== 'public' && rules.length === 0) throw new TypeError('access must have at least one rule');
    const guards = rules.flatMap((rule) => ('basic' in rule ? [rule.basic] : []));
    if (guards.length > 0 && rules.length > 1) throw new TypeError('HTTP Basic cannot be combined with other rules');
    this.public = access === 'public';
    this.basic = guards[0] ?? null;
    this.#scopes = rules.flatMap((rule) => ('scope' in rule ? [rule.scope] : 'anyScope' in rule ? rule.anyScope : []));
    this.#accepted = new Set(
      this.#scopes
        .filter((scope) => scope !== SETUP_SCOPE)
        .flatMap((scope) => (scope.endsWith(':read') ? [scope, scope.replace(/:read$/, ':manage')] : [scope])),
    );
    this.#setup = this.#scopes.includes(SETUP_SCOPE);
    this.#intake = rules.some((rule) => 'intake' in rule && rule.intake === true);
    this.#anyToken = rules.some((rule) => 'anyToken' in rule);
    this.#sharedKey = rules.some((rule) => 'sharedKey' in rule);
    const sessions = rules.flatMap((rule) => ('session' in rule ? [rule.session] : []));
    this.session = sessions.includes('member') ? 'member' : (sessions[0] ?? null);
    this.#scopeFailure = new Failure('insufficient_scope', this.#describeRequirement());
  }

  check(principal: Principal): Failure | null {
    if (principal.kind === 'public') return this.public ? null : UNAUTHORIZED;
    if (principal.kind === 'basic') return this.basic ? null : UNAUTHORIZED;
    if (principal.kind === 'shared_key') return this.#sharedKey ? null : this.#scopeFailure;
    if (principal.kind === 'session') {
      if (principal.must_enroll && !this.duringEnrollment) return SECOND_FACTOR_REQUIRED;
      return this.#acceptsRole(principal.role) ? null : this.#createRoleFailure();
    }
    if (this.#acceptsToken(principal.token_kind, principal.scopes)) return null;
    // Contract 50: this license endpoint answers 401 to every other credential.
    return this.bare && this.#sharedKey && this.#scopes.length === 0 ? UNAUTHORIZED : this.#scopeFailure;
  }

  #acceptsToken(kind: string, scopes: readonly string[]): boolean {
    if (kind === 'setup') return this.#setup && scopes.includes(SETUP_SCOPE);
    if (kind === 'intake') return this.#intake;
    return this.#anyToken || scopes.some((scope) => this.#accepted.has(scope));
  }

  #acceptsRole(role: string): boolean {
    return role === 'admin' ? this.session !== null : role === 'member' && this.session === 'member';
  }

  #createRoleFailure(): Failure {
    return new Failure('role_not_allowed', `Requires an account with the role ${this.describeRoles()}.`);
  }

  describeRoles(): string {
    return this.session === 'member' ? 'admin or member' : 'admin';
  }

  #describeRequirement(): string {
    const kinds = [
      ...(this.#scopes.length > 0 ? [`a token with the scope ${this.#scopes.join(' or ')}`] : []),
      ...(this.#anyToken ? ['a service token'] : []),
      ...(this.#sharedKey ? ['the shared key'] : []),
      ...(this.session ? [`a session of an account with the role ${this.describeRoles()}`] : []),
    ];
    return `Requires ${kinds.join(', or ')}.`;
  }

  describe(): {
    scopes: readonly string[];
    anyToken: boolean;
    intake: boolean;
    sharedKey: boolean;
    session: 'admin' | 'member' | null;
  } {
    return {
      scopes: this.#scopes,
      anyToken: this.#anyToken,
      intake: this.#intake,
      sharedKey: this.#sharedKey,
      session: this.session,
    };
  }
}

const isRuleList = (access: AccessRule | readonly AccessRule[]): access is readonly AccessRule[] =>
  Array.isArray(access);

const BEARER_CHALLENGE = { headers: { 'www-authenticate': 'Bearer realm="aos"' } };
export const CREDENTIAL_MISSING = new Failure(
  'unauthorized',
  'A credential is required: `Authorization: Bearer <token>`.',
  BEARER_CHALLENGE,
);
export const SECOND_FACTOR_REQUIRED = new Failure(
  'second_factor_required',
  'Set up a second factor in your account settings first.',
);
export const UNAUTHORIZED = new Failure(
  'unauthorized',
  'The credential is unknown, expired or revoked.',
  BEARER_CHALLENGE,
);
