/**
 * Authenticates the caller of a route, and verifies that a session's change comes from a page of
 * this service.
 */
import type { BasicGuard, Principal, RouteSpec } from '../../../ports/http.js';
import { MISSING, type AccessPolicy } from '../access/access-policy.js';
import { authenticate, extracted } from '../access/authenticate.js';
import { judgeBasic } from '../access/basic.js';
import { CSRF_FAILED, csrfMatches, SESSION_COOKIE } from '../access/csrf.js';
import type { ReadBody } from '../body/body-reader.js';
import type { RequestPlace } from '../limits/in-flight.js';
import { cookieOf } from '../wire/cookies.js';
import { errorOf, Failure } from '../wire/failure.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { formFailure, idle } from './request-body.js';
import { SAFE, type RouteInput } from './route-input.js';
import type { RouteLimits } from './route-limits.js';
import { senderOf } from './sender.js';
import type { RouteServices } from './services.js';

type Services = Pick<RouteServices, 'authenticator' | 'limits' | 'secure'>;

export class RouteCredential {
  constructor(
    private readonly policy: AccessPolicy,
    private readonly extract: RouteSpec['credential'],
    private readonly own: { input: RouteInput; limits: RouteLimits },
    private readonly services: Services,
  ) {}

  /**
   * Sets `call.principal`.
   * @returns the body if it had to be read for the credential, or the failure
   */
  async identify(call: IncomingRequest, place: RequestPlace): Promise<ReadBody | null | Failure> {
    const { policy } = this;
    if (policy.basic !== null) return this.#basic(call, policy.basic);
    if (policy.public) return null;
    const read =
      this.extract === undefined ? await this.#inHeaders(call) : await this.#extracted(call, place, this.extract);
    if (read instanceof Failure) return read;
    return call.principal.kind === 'session' && !SAFE.has(call.method) ? this.#proveForm(call, place) : read;
  }

  async #inHeaders(call: IncomingRequest): Promise<null | Failure> {
    const { authenticator, secure } = this.services;
    const find = (): Promise<Principal | Failure> =>
      authenticate(authenticator, this.policy, call.raw.req.headers, secure);
    return this.#known(call, await find(), find);
  }

  #known(
    call: IncomingRequest,
    principal: Principal | Failure,
    find: () => Promise<Principal | Failure>,
  ): null | Failure {
    if (principal instanceof Failure) return principal;
    call.identified(principal, async () => {
      const now = await find();
      const failure = now instanceof Failure ? now : this.policy.refuses(now);
      if (failure) throw errorOf(failure);
    });
    return null;
  }

  async #basic(call: IncomingRequest, guard: BasicGuard): Promise<null | Failure> {
    const limited = this.own.limits.check(call);
    const { authorization } = call.raw.req.headers;
    if (limited && authorization === undefined) return limited;
    const refused = this.own.input.checkParams(call);
    if (refused) return refused;
    const principal = await judgeBasic(guard, call, authorization, limited !== null);
    if (limited) {
      const who = principal instanceof Failure || principal.kind !== 'basic' ? null : principal.username;
      const unproven = who === null ? limited : this.services.limits.checkProven(`basic ${who}`);
      if (unproven) return unproven;
    }
    if (principal instanceof Failure) return principal;
    call.principal = principal;
    return null;
  }

  /** Tries the route's own location: headers and query first, then the first bytes of the body. */
  async #extracted(
    call: IncomingRequest,
    place: RequestPlace,
    extract: NonNullable<RouteSpec['credential']>,
  ): Promise<ReadBody | null | Failure> {
    const { authenticator, limits } = this.services;
    const { input } = this.own;
    const find = (head: Buffer | null): Promise<Principal | Failure | null> =>
      extracted(authenticator, extract, call, head);
    const named = await find(null);
    if (named !== null) return this.#known(call, named, async () => (await find(null)) ?? MISSING);
    if (!input.reads || SAFE.has(call.method)) return MISSING;
    const limited = limits.checkKeyless(call.network, this.own.limits.byCategory);
    if (limited) return limited;
    const body = await input.head(call, place);
    if (body instanceof Failure) return body;
    const { head } = body;
    const inBody = async (): Promise<Principal | Failure> => (await find(head)) ?? MISSING;
    const refused = this.#known(call, await inBody(), inBody);
    if (refused) return refused;
    return idle(place, () => body.rest(senderOf(call).key));
  }

  /** A session's change must carry its CSRF token in `X-CSRF-Token` or the field `csrf_token`. */
  async #proveForm(call: IncomingRequest, place: RequestPlace): Promise<ReadBody | null | Failure> {
    const { authenticator, secure } = this.services;
    const { cookie, 'x-csrf-token': header } = call.raw.req.headers;
    const session = [cookieOf(cookie, SESSION_COOKIE, secure)];
    if (header !== undefined) return csrfMatches(authenticator, header, session) ? null : CSRF_FAILED;
    const read = await this.own.input.read(call, place, true);
    if (read instanceof Failure) return formFailure(read);
    const { value } = read;
    if (typeof value !== 'object' || value === null || !('csrf_token' in value)) return CSRF_FAILED;
    const { csrf_token, ...rest } = value;
    return csrfMatches(authenticator, csrf_token, session) ? { value: rest, bytes: read.bytes } : CSRF_FAILED;
  }
}
