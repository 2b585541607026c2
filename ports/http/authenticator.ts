import type { Principal, SessionPrincipal } from './principal.js';

/** Authenticates callers; provided by the access plugin as `access.authenticator`. */
export interface Authenticator {
  /** Authenticates a Bearer token or the shared key; null when invalid, expired or revoked. */
  authenticateBearer(secret: string): Promise<Principal | null>;
  /** Authenticates a `svc_session` cookie; null when the session has ended. */
  authenticateSession(cookie: string): Promise<SessionPrincipal | null>;
  /**
   * Returns the CSRF token of a cookie (of a session, or of an anonymous visitor at the login
   * form).
   */
  getCsrfToken(cookie: string): string;
  /** Logs a rejected request for security monitoring. */
  recordRejection?(refusal: RequestRejection): void;
}

/** A request rejected for its credential, permissions or form token. */
export interface RequestRejection {
  what: 'credential' | 'scope' | 'csrf';
  /** Path template of the route. */
  path: string;
  address: string;
  request_id: string;
  principal: Principal;
}
