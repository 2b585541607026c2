import type { Principal } from './principal.js';

export interface HttpRequest {
  id: string;
  method: string;
  path: string;
  /** Signed responses include them themselves. */
  warnings: readonly string[];
  params: Record<string, string>;
  query: Record<string, unknown>;
  /** Form fields of a page; an `UploadedBody` on streaming routes. */
  body: unknown;
  /** Lower-case names, without the credential. */
  headers: Readonly<Record<string, string | undefined>>;
  principal: Principal;
  /**
   * Checks the credential again, which may have been revoked.
   * @throws ServiceError unauthorized, insufficient_scope
   */
  reauthorize(): Promise<void>;
  /** Client address after `server.trusted_proxies`. */
  address: string;
  cookies: Readonly<Record<string, string>>;
  /** Aborts when the client disconnects, not when the service stops. */
  signal: AbortSignal;
  /** For long polling: also aborts when the service starts to stop. */
  waiting: AbortSignal;
  /** Exhausted categories, with seconds until they reset. */
  limited?: ReadonlyMap<string, number>;
  chosenProject?: string;
  /** Tool through which an agent calls this route. */
  tool?: string;
}
