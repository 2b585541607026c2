/**
 * Authenticates the caller of a route, and verifies that a session's change comes from a page of
 * this service.
 */
import type { BasicGuard, Principal, RouteSpec } from '../../../ports/http/index.js';
import { CREDENTIAL_MISSING, type AccessPolicy } from '../access/access-policy.js';
import { authenticate, authenticateWithExtractor } from '../access/authenticate.js';
import { authenticateBasic } from '../access/basic.js';
import { CSRF_FAILED, isValidCsrfToken, SESSION_COOKIE } from '../access/csrf.js';
import type { ParsedBody } from '../body/body-reader.js';
import type { RequestSlot } from '../limits/requests-in-flight.js';
import { getCookie } from '../wire/cookies.js';
import { toServiceError, Failure } from '../wire/failure.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { toFormFailure, releaseWhileReading } from './request-body.js';
import { SAFE_METHODS, type RouteInput } from './route-input.js';
import type { RouteLimits } from './route-limits.js';
import { toBodySender } from './caller-keys.js';
import type { RouteServices } from './route-services.js';

type Services = Pick<RouteServices, 'authenticator' | 'limits' | 'secure'>;

export class RouteAuthenticator {
  constructor(
    private readonly policy: AccessPolicy,
    private readonly extract: RouteSpec['credential'],
    private readonly own: { input: RouteInput; limits: RouteLimits },
    private readonly services: Services,
  ) {}

  /** @returns the body if it had to be read, or the failure */
  async identify(call: IncomingRequest, place: RequestSlot): Promise<ParsedBody | null | Failure> {
    const { policy } = this;
    if (policy.basic !== null) return this.#authenticateBasic(call, policy.basic);
    if (policy.public) return null;
    const read =
      this.extract === undefined
        ? await this.#authenticateHeaders(call)
        : await this.#authenticateExtracted(call, place, this.extract);
    if (read instanceof Failure) return read;
    return call.principal.kind === 'session' && !SAFE_METHODS.has(call.method)
      ? this.#verifyFormToken(call, place)
      : read;
  }

  async #authenticateHeaders(call: IncomingRequest): Promise<null | Failure> {
    const { authenticator, secure } = this.services;
    const find = (): Promise<Principal | Failure> =>
      authenticate(authenticator, this.policy, call.raw.req.headers, secure);
    return this.#setPrincipal(call, await find(), find);
  }

  #setPrincipal(
    call: IncomingRequest,
    principal: Principal | Failure,
    find: () => Promise<Principal | Failure>,
  ): null | Failure {
    if (principal instanceof Failure) return principal;
    call.setPrincipal(principal, async () => {
      const now = await find();
      const failure = now instanceof Failure ? now : this.policy.check(now);
      if (failure) throw toServiceError(failure);
    });
    return null;
  }

  async #authenticateBasic(call: IncomingRequest, guard: BasicGuard): Promise<null | Failure> {
    const limited = this.own.limits.check(call);
    const { authorization } = call.raw.req.headers;
    if (limited && authorization === undefined) return limited;
    const rejection = this.own.input.checkParams(call);
    if (rejection) return rejection;
    const principal = await authenticateBasic(guard, call, authorization, limited !== null);
    if (limited) {
      const who = principal instanceof Failure || principal.kind !== 'basic' ? null : principal.username;
      const unproven = who === null ? limited : this.services.limits.checkVerified(`basic ${who}`);
      if (unproven) return unproven;
    }
    if (principal instanceof Failure) return principal;
    call.principal = principal;
    return null;
  }

  /** Headers and query first, then the first bytes of the body. */
  async #authenticateExtracted(
    call: IncomingRequest,
    place: RequestSlot,
    extract: NonNullable<RouteSpec['credential']>,
  ): Promise<ParsedBody | null | Failure> {
    const { authenticator, limits } = this.services;
    const { input } = this.own;
    const find = (head: Buffer | null): Promise<Principal | Failure | null> =>
      authenticateWithExtractor(authenticator, extract, call, head);
    const named = await find(null);
    if (named !== null) return this.#setPrincipal(call, named, async () => (await find(null)) ?? CREDENTIAL_MISSING);
    if (!input.reads || SAFE_METHODS.has(call.method)) return CREDENTIAL_MISSING;
    const limited = limits.checkKeyless(call.network, this.own.limits.isCountedByCategory);
    if (limited) return limited;
    const body = await input.readHead(call, place);
    if (body instanceof Failure) return body;
    const { head } = body;
    const inBody = async (): Promise<Principal | Failure> => (await find(head)) ?? CREDENTIAL_MISSING;
    const failure = this.#setPrincipal(call, await inBody(), inBody);
    if (failure) return failure;
    return releaseWhileReading(place, () => body.readRest(toBodySender(call).key));
  }

  /** A session's change must carry its CSRF token in `X-CSRF-Token` or the field `csrf_token`. */
  async #verifyFormToken(call: IncomingRequest, place: RequestSlot): Promise<ParsedBody | null | Failure> {
    const { authenticator, secure } = this.services;
    const { cookie, 'x-csrf-token': header } = call.raw.req.headers;
    const session = [getCookie(cookie, SESSION_COOKIE, secure)];
    if (header !== undefined) return isValidCsrfToken(authenticator, header, session) ? null : CSRF_FAILED;
    const read = await this.own.input.readBody(call, place, true);
    if (read instanceof Failure) return toFormFailure(read);
    const { value } = read;
    if (typeof value !== 'object' || value === null || !('csrf_token' in value)) return CSRF_FAILED;
    const { csrf_token, ...rest } = value;
    return isValidCsrfToken(authenticator, csrf_token, session) ? { value: rest, bytes: read.bytes } : CSRF_FAILED;
  }
}
