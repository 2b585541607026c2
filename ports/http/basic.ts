/**
 * HTTP Basic (RFC 7617), for files that a front web server could protect in the same way (contract
 * 40, access files).
 */

export interface BasicCredentials {
  username: string;
  password: string;
}

/** Part of `HttpRequest` visible to a guard; without the credential. */
export interface BasicRequest {
  id: string;
  method: string;
  /** Raw path without query. */
  path: string;
  /** Validated, decoded path parameters. */
  params: Record<string, string>;
  /** Lower-case names. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Client address after `server.trusted_proxies`. */
  address: string;
}

export type BasicDecision =
  | {
      open: true;
      /** Authenticated user; null: the path is public. */
      username: string | null;
    }
  | {
      open: false;
      /** 401 with the challenge, 403, 404 or 429. */
      code: 'unauthorized' | 'insufficient_scope' | 'not_found' | 'rate_limited';
      /** One sentence for the caller. */
      message: string;
      /** Seconds, with 429. */
      retry_after?: number;
    };

/** Guards routes with `access: {basic}`. */
export interface BasicGuard {
  /** Shown in the browser's password prompt. */
  realm: string;
  /**
   * Authorizes a request before its body is read.
   * @param given null: missing or malformed credentials
   * @param pressed the address exceeds its rate limit: accept only valid credentials and avoid
   *   expensive work
   */
  authorize(given: BasicCredentials | null, request: BasicRequest, pressed: boolean): Promise<BasicDecision>;
}

/** Caller accepted by a guard. */
export interface BasicPrincipal {
  kind: 'basic';
  /** Null: the path is public. */
  username: string | null;
}
