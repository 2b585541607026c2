import type { Authenticator, Principal, RouteSpec } from '../../../ports/http.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { cookieOf } from '../wire/cookies.js';
import { SESSION_COOKIE } from './csrf.js';
import { MISSING, UNAUTHORIZED, type AccessPolicy } from './access-policy.js';
import type { Failure } from '../wire/failure.js';

const BEARER = /^bearer +([\x21-\x7e]{1,1024}) *$/i;

export const bearerOf = (authorization: string): string | null => BEARER.exec(authorization)?.[1] ?? null;

/**
 * Resolves the caller, or fails with 401. The session cookie counts only without an `Authorization`
 * header.
 */
export async function authenticate(
  authenticator: Authenticator,
  policy: AccessPolicy,
  headers: { authorization?: string | undefined; cookie?: string | undefined },
  secure: boolean,
): Promise<Principal | Failure> {
  if (headers.authorization !== undefined) {
    const secret = bearerOf(headers.authorization);
    return secret === null ? UNAUTHORIZED : ((await authenticator.bearer(secret)) ?? UNAUTHORIZED);
  }
  if (policy.session === null) return MISSING;
  const cookie = cookieOf(headers.cookie, SESSION_COOKIE, secure);
  return cookie ? ((await authenticator.session(cookie)) ?? UNAUTHORIZED) : MISSING;
}

/**
 * Returns the principal that the route's extractor finds, or null without a credential. `body` is
 * null before the body has been read.
 */
export async function extracted(
  authenticator: Authenticator,
  credential: NonNullable<RouteSpec['credential']>,
  call: IncomingRequest,
  body: unknown,
): Promise<Principal | Failure | null> {
  const secret = credential({ headers: call.rawHeaders, query: call.query, body });
  if (!secret) return null;
  return (await authenticator.bearer(secret)) ?? UNAUTHORIZED;
}
