import type { Principal, SessionPrincipal } from './principal.js';

/** Authenticates callers; the service `access.authenticator`. */
export interface Authenticator {
  /** Also accepts the shared key; null when invalid, expired or revoked. */
  authenticateBearer(secret: string): Promise<Principal | null>;
  /** Null when the session has ended. */
  authenticateSession(cookie: string): Promise<SessionPrincipal | null>;
  /** Of a session, or of an anonymous visitor at the login form. */
  getCsrfToken(cookie: string): string;
  /** Logs a rejected request for security monitoring. */
  recordRejection?(refusal: RequestRejection): void;
}

/** A request rejected for its credential, permissions or form token. */
export interface RequestRejection {
  what: 'credential' | 'scope' | 'csrf';
  path: string;
  address: string;
  request_id: string;
  principal: Principal;
}
