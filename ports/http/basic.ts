/**
 * HTTP Basic (RFC 7617), for files that a web server could protect in the same way (contract 40,
 * access files).
 */

export interface BasicCredentials {
  username: string;
  password: string;
}

/** Part of `HttpRequest` visible to a guard; without the credential. */
export interface BasicRequest {
  id: string;
  method: string;
  path: string;
  /** Validated, decoded path parameters. */
  params: Record<string, string>;
  /** Lower-case names. */
  headers: Readonly<Record<string, string | undefined>>;
  address: string;
}

export type BasicDecision =
  | {
      open: true;
      username: string | null;
    }
  | {
      open: false;
      /** 401 with the challenge, 403, 404 or 429. */
      code: 'unauthorized' | 'insufficient_scope' | 'not_found' | 'rate_limited';
      message: string;
      /** Seconds, with 429. */
      retry_after?: number;
      /** A check of the service’s own expects it: not reported as a denial. */
      isExpected?: true;
    };

/** Guards routes with `access: {basic}`. */
export interface BasicGuard {
  realm: string;
  /**
   * Runs before the body is read.
   * @param given null: missing or malformed credentials
   * @param pressed the address exceeds its rate limit: accept only valid credentials and avoid
   *   expensive work
   */
  authorize(given: BasicCredentials | null, request: BasicRequest, pressed: boolean): Promise<BasicDecision>;
}

/** Caller accepted by a guard. */
export interface BasicPrincipal {
  kind: 'basic';
  username: string | null;
}
