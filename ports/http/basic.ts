/**
 * HTTP Basic (RFC 7617), for files that a web server in front could guard in the same way (contract 40, access files).
 */

export interface BasicCredentials {
  username: string;
  password: string;
}

/** The request as a guard sees it (`HttpRequest`): never with the credential itself. */
export interface BasicRequest {
  id: string;
  method: string;
  /** As it came, without the query. */
  path: string;
  /** Parameters of the path, validated and decoded. */
  params: Record<string, string>;
  /** Lower-case names. */
  headers: Readonly<Record<string, string | undefined>>;
  /** The client's, after `server.trusted_proxies`. */
  address: string;
}

export type BasicVerdict =
  | {
      open: true;
      /** Who it is; null: the path is open to everybody. */
      username: string | null;
    }
  | {
      open: false;
      /** 401 with the challenge, 403, 404 or 429. */
      code: 'unauthorized' | 'insufficient_scope' | 'not_found' | 'rate_limited';
      /** One clear sentence for the caller. */
      message: string;
      /** Seconds, of a 429. */
      retry_after?: number;
    };

/** Decides who may pass a route with `access: {basic}`. */
export interface BasicGuard {
  /** Shown by browsers when they ask for the password. */
  realm: string;
  /**
   * Asked before anything of a body is read.
   * @param given null: no credential came, or one that is not what RFC 7617 describes
   * @param pressed the address has asked too often: only what is right is let in, and nothing costly is done for what
   * cannot be
   */
  judge(given: BasicCredentials | null, request: BasicRequest, pressed: boolean): Promise<BasicVerdict>;
}

/** A caller that a guard has let in. */
export interface BasicPrincipal {
  kind: 'basic';
  /** null: the path is open to everybody. */
  username: string | null;
}
