/** Credentials, judged. */
import type { Principal, SessionPrincipal } from './principal.js';

/** Turns credentials into principals. Provided by the access plugin as `access.authenticator`. */
export interface Authenticator {
  /** A Bearer value: a token of any kind, or the shared key; null when it is none, expired or revoked. */
  bearer(secret: string): Promise<Principal | null>;
  /** The session of a `svc_session` cookie's value; null when it has ended. */
  session(cookie: string): Promise<SessionPrincipal | null>;
  /** The CSRF token that belongs to a cookie value (a session's, or an anonymous visitor's at the login form). */
  csrf(cookie: string): string;
  /** Called for every refusal, for the security log. */
  refused?(refusal: Refusal): void;
}

/** A request that was turned away for its credential, its rights or its form token. */
export interface Refusal {
  what: 'credential' | 'scope' | 'csrf';
  /** Of the route, with its parameters unfilled. */
  path: string;
  address: string;
  request_id: string;
  principal: Principal;
}
