/** A request as a handler sees it: validated, with its caller, and without its credential. */
import type { Principal } from './principal.js';

export interface HttpRequest {
  /** `X-Request-Id`. */
  id: string;
  method: string;
  /** The path as it came, without the query. */
  path: string;
  /** What the caller is told about parameters and fields that were ignored; a signed answer includes them itself. */
  warnings: readonly string[];
  /** Path parameters after validation, decoded. */
  params: Record<string, string>;
  /** Query after validation; repeated parameters are arrays where the schema says so. */
  query: Record<string, unknown>;
  /** Body after validation; null without one. A page's form fields. An `UploadedBody` where the route streams. */
  body: unknown;
  /** Lower-case names. Never holds the credential. */
  headers: Readonly<Record<string, string | undefined>>;
  principal: Principal;
  /**
   * Checks the credential again, for a handler that has waited or taken an upload, immediately before it changes
   * anything: a credential may be revoked meanwhile. @throws ServiceError unauthorized, insufficient_scope
   */
  reauthorize(): Promise<void>;
  /** The client's address after `server.trusted_proxies`. */
  address: string;
  cookies: Readonly<Record<string, string>>;
  /** Aborts when the client goes away. What is at work when the service stops is finished. */
  signal: AbortSignal;
  /** For what only waits: aborts with `signal`, and when the service begins to stop, so that it is answered then. */
  waiting: AbortSignal;
  /** Categories of the call's content that are used up, with the seconds until they are taken again. */
  limited?: ReadonlyMap<string, number>;
  /** The slug that the query was filled in with, because the visitor has chosen this project (`projectQuery`). */
  chosenProject?: string;
  /** Name of the tool by which an agent calls this route (ports/tools.ts); undefined for a request of its own. */
  tool?: string;
}
