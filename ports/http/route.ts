import type { ObjectSchema, Schema } from 'joi';
import type { Access } from './access.js';
import type { BodyFilter } from './body-filter.js';
import type { PublicBucket, RateClass } from './rates.js';
import type { HttpRequest } from './request.js';
import type { ToolSpec } from './tool.js';
import type { StreamedInput } from './uploaded-body.js';

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

export interface RouteSpec {
  method: HttpMethod | readonly HttpMethod[];
  /** `/api/bugtracker/v1/bugs/{id}` */
  path: string;
  aliases?: readonly string[];
  /**
   * Operation name in openapi.json and clients: `reportError`. A list covers each path and method
   * in order.
   */
  operationId?: string | readonly string[];
  /** Tag in openapi.json. */
  tag?: string;
  summary: string;
  description?: string;
  access: Access;
  input?: {
    params?: ObjectSchema;
    query?: ObjectSchema;
    /** Body schema; unknown fields are dropped (contract 00, envelope). */
    body?: Schema;
    /** Streams the body instead of `body`. POST, PUT and PATCH. */
    stream?: StreamedInput;
    /**
     * Machine reports must not be lost: live tokens are scrubbed instead of rejected (contract 21,
     * truncation and scrubbing).
     */
    report?: boolean;
    /** A missing body counts as `{}`. */
    optionalBody?: boolean;
    /** Media types of a body other than JSON, for OpenAPI. */
    mediaType?: string | readonly string[];
    /** Request headers with descriptions, for OpenAPI. */
    headers?: Readonly<Record<string, string>>;
  };
  /** Data fields without envelope, for OpenAPI and tests; or status → schema. */
  output?: Schema | Readonly<Record<number, Schema>>;
  status?: number | readonly number[];
  /** In addition to those of credential, limits, input and faults. */
  errors?: readonly string[];
  /**
   * Rejects unknown query parameters with 400 (contract 00, amendments). Default: true, except for
   * GET, HEAD and `plain` routes.
   */
  strictQuery?: boolean;
  /** No envelope, errors included (contract 00, envelope). */
  bare?: boolean;
  /** No envelope except for errors. */
  plain?: boolean;
  hidden?: boolean;
  /** The read may wait for an event; it bypasses the queue of reads. */
  waits?: (request: HttpRequest) => boolean;
  onOwnHosts?: boolean;
  tool?: ToolSpec | readonly ToolSpec[];
  limits?: {
    rate?: RateClass;
    /** Bucket of `public` calls. Default: `rest`, or `store` with HTTP Basic. */
    bucket?: PublicBucket;
    /** Returns the verified key or password behind a response, or null. */
    proves?: (request: HttpRequest, answer: object) => string | null;
    /** Units of this call, from the parsed body. */
    cost?: (body: unknown) => number;
    /**
     * Units by category, replacing `cost`; each has a bucket per credential. Exhausted ones appear
     * in `limited`; the call is rejected when all are.
     */
    categories?: (body: unknown) => ReadonlyMap<string, number>;
    /**
     * Headers of a 429.
     * @param limited seconds until they reset
     */
    limited?: (limited: ReadonlyMap<string, number>) => Record<string, string>;
    /**
     * Drops parts of an oversized body while it arrives.
     * @param most bytes to keep
     */
    sieve?: (most: number) => BodyFilter;
    /** Maximum body bytes on the wire; default `limits.json_bytes`. */
    bytes?: number;
    /**
     * Passes only the first inflated bytes of a raw body; the rest is discarded, up to 64 MiB.
     * Replaces `bytes` and `inflate`.
     */
    keptBytes?: number;
    /** Accepts gzip, deflate, br and (on Node 22.15 or later) zstd. */
    inflate?: boolean;
    /** Parses JSON of any content type (Sentry SDKs), or passes the raw bytes as a Buffer. */
    payload?: 'json' | 'json-any-type' | 'raw';
    /** Parses raw bytes once, for `cost` and the handler. */
    read?: (bytes: Buffer) => unknown;
    /** Responds 507 below `health.min_free_bytes`; for intakes whose senders can retry. */
    space?: boolean;
    /**
     * Headers of a 429, for clients that ignore `Retry-After`.
     * @param seconds value of `Retry-After`
     */
    refused?: (seconds: number) => Record<string, string>;
  };
  cors?: boolean;
  /**
   * Reads the credential from elsewhere than `Authorization` (Sentry: `X-Sentry-Auth`,
   * `?sentry_key=`).
   */
  credential?: (request: Pick<HttpRequest, 'headers' | 'query' | 'body'>) => string | null;
  credentialIn?: readonly { in: 'header' | 'query'; name: string }[];
  /** Called for each error response, for metrics. */
  onRefused?: (code: string) => void;
  /** @returns an object for 200, or an `Answer` */
  handle(request: HttpRequest): Promise<object> | object;
}
