/** A validated request with its caller and without its credential. */
import type { Principal } from './principal.js';

export interface HttpRequest {
  /** `X-Request-Id`. */
  id: string;
  method: string;
  /** Raw path without query. */
  path: string;
  /** Warnings about ignored parameters and fields; signed responses include them themselves. */
  warnings: readonly string[];
  /** Validated, decoded path parameters. */
  params: Record<string, string>;
  /** Validated query; repeated parameters are arrays where the schema allows. */
  query: Record<string, unknown>;
  /** Validated body, or null; form fields of a page; an `UploadedBody` on streaming routes. */
  body: unknown;
  /** Lower-case names, without the credential. */
  headers: Readonly<Record<string, string | undefined>>;
  principal: Principal;
  /**
   * Checks the credential again, which may have been revoked. Call it right before changes after
   * waiting or an upload.
   * @throws ServiceError unauthorized, insufficient_scope
   */
  reauthorize(): Promise<void>;
  /** Client address after `server.trusted_proxies`. */
  address: string;
  cookies: Readonly<Record<string, string>>;
  /** Aborts when the client disconnects. A service stop lets active work finish. */
  signal: AbortSignal;
  /**
   * For long polling: aborts with `signal`, and when the service starts to stop, so that it
   * responds then.
   */
  waiting: AbortSignal;
  /** Exhausted rate limit categories of the call, with seconds until they reset. */
  limited?: ReadonlyMap<string, number>;
  /** Selected project that filled in the query (`projectQuery`). */
  chosenProject?: string;
  /**
   * Tool through which an agent calls this route (ports/tools.ts); undefined for direct requests.
   */
  tool?: string;
}
