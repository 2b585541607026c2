import type { Authenticator, Principal, RouteSpec } from '../../../ports/http/index.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { getCookie } from '../wire/cookies.js';
import { SESSION_COOKIE } from './csrf.js';
import { CREDENTIAL_MISSING, UNAUTHORIZED, type AccessPolicy } from './access-policy.js';
import type { Failure } from '../wire/failure.js';

const BEARER_PATTERN = /^bearer +([\x21-\x7e]{1,1024}) *$/i;

export const parseBearerToken = (authorization: string): string | null =>
  BEARER_PATTERN.exec(authorization)?.[1] ?? null;

/** The session cookie counts only without an `Authorization` header. */
export async function authenticate(
  authenticator: Authenticator,
  policy: AccessPolicy,
  headers: { authorization?: string | undefined; cookie?: string | undefined },
  secure: boolean,
): Promise<Principal | Failure> {
  if (headers.authorization !== undefined) {
    const secret = parseBearerToken(headers.authorization);
    return secret === null ? UNAUTHORIZED : ((await authenticator.authenticateBearer(secret)) ?? UNAUTHORIZED);
  }
  if (policy.session === null) return CREDENTIAL_MISSING;
  const cookie = getCookie(headers.cookie, SESSION_COOKIE, secure);
  return cookie ? ((await authenticator.authenticateSession(cookie)) ?? UNAUTHORIZED) : CREDENTIAL_MISSING;
}

/** Returns the principal that the route's extractor finds, or null without a credential. */
export async function authenticateWithExtractor(
  authenticator: Authenticator,
  credential: NonNullable<RouteSpec['credential']>,
  call: IncomingRequest,
  body: unknown,
): Promise<Principal | Failure | null> {
  const secret = credential({ headers: call.rawHeaders, query: call.query, body });
  if (!secret) return null;
  return (await authenticator.authenticateBearer(secret)) ?? UNAUTHORIZED;
}
