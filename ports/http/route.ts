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
  /** Alternative paths. */
  aliases?: readonly string[];
  /**
   * Operation name in openapi.json and clients: `reportError`. A list covers each path and method
   * in order. Absent: derived from method and path.
   */
  operationId?: string | readonly string[];
  /** Tag in openapi.json. Absent: first path segment after `/api/`. */
  tag?: string;
  summary: string;
  description?: string;
  access: Access;
  input?: {
    params?: ObjectSchema;
    query?: ObjectSchema;
    /** Body schema; unknown fields are dropped (contract 00, envelope). */
    body?: Schema;
    /** Streams the body to the handler instead of `body`. POST, PUT and PATCH. */
    stream?: StreamedInput;
    /**
     * Machine reports, which must not be lost: live tokens are not rejected with 422. The error
     * intake scrubs them (contract 21, truncation and scrubbing).
     */
    report?: boolean;
    /** A missing body counts as `{}`. */
    optionalBody?: boolean;
    /** Media types of a body other than JSON, for OpenAPI. */
    mediaType?: string | readonly string[];
    /** Request headers with descriptions, for OpenAPI. */
    headers?: Readonly<Record<string, string>>;
  };
  /** Schema of the data fields without envelope, for OpenAPI and tests; or status → schema. */
  output?: Schema | Readonly<Record<number, Schema>>;
  /** Success statuses with this schema, for OpenAPI. Default 200. */
  status?: number | readonly number[];
  /** Route-specific error codes; those of credential, limits, input and faults are implied. */
  errors?: readonly string[];
  /**
   * Rejects unknown query parameters with 400 (contract 00, amendments). Default: true, except for
   * GET, HEAD and `plain` routes. Otherwise they are ignored, and reads list them in `warnings`.
   */
  strictQuery?: boolean;
  /** No envelope, errors included (license endpoints; contract 00, envelope). */
  bare?: boolean;
  /** No envelope except for errors, for clients that expect another service's format. */
  plain?: boolean;
  /** Hidden from openapi.json. */
  hidden?: boolean;
  /** Returns whether this read may wait for an event; it then bypasses the queue of reads. */
  waits?: (request: HttpRequest) => boolean;
  /** Also served on the plugin's custom hosts (`CustomHosts`). */
  onOwnHosts?: boolean;
  /** Tools for agents. */
  tool?: ToolSpec | readonly ToolSpec[];
  limits?: {
    rate?: RateClass;
    /** Bucket of `public` calls. Default: `rest`, or `store` with HTTP Basic. */
    bucket?: PublicBucket;
    /**
     * Returns the verified key or password behind a response, or null. Such responses have a
     * separate bucket, so that others cannot exhaust it through a shared address.
     */
    proves?: (request: HttpRequest, answer: object) => string | null;
    /** Returns the units of this call (elements of an array intake). Receives the parsed body. */
    cost?: (body: unknown) => number;
    /**
     * Returns units by category from the parsed body, replacing `cost`; each category has a bucket
     * per credential. Exhausted ones appear in `limited` for the handler to skip; the call is
     * rejected when all are.
     */
    categories?: (body: unknown) => ReadonlyMap<string, number>;
    /**
     * Returns extra headers of a 429 for exhausted categories.
     * @param limited seconds until they reset
     */
    limited?: (limited: ReadonlyMap<string, number>) => Record<string, string>;
    /**
     * Creates a filter that drops parts of an oversized body while it arrives.
     * @param most maximum bytes to keep
     */
    sieve?: (most: number) => BodyFilter;
    /** Maximum body bytes on the wire; default `limits.json_bytes`. */
    bytes?: number;
    /**
     * Passes only the first inflated bytes of a raw body, which may have any size and content; the
     * rest is discarded, up to 64 MiB. Replaces `bytes` and `inflate`.
     */
    keptBytes?: number;
    /**
     * Accepts gzip, deflate, br and (on Node 22.15 or later) zstd, inflated up to
     * `limits.inflated_bytes`.
     */
    inflate?: boolean;
    /** Parses JSON of any content type (Sentry SDKs), or passes the raw bytes as a Buffer. */
    payload?: 'json' | 'json-any-type' | 'raw';
    /** Parses raw bytes once; `cost` and the handler receive the result. */
    read?: (bytes: Buffer) => unknown;
    /**
     * Responds 507 while less than `health.min_free_bytes` is free; for intakes whose senders can
     * retry.
     */
    space?: boolean;
    /**
     * Returns extra headers of a 429, for clients that ignore `Retry-After`.
     * @param seconds value of `Retry-After`
     */
    refused?: (seconds: number) => Record<string, string>;
  };
  /** Handles CORS preflights and sends `Access-Control-Allow-Origin: *` (intake paths only). */
  cors?: boolean;
  /**
   * Reads the credential from elsewhere than `Authorization` (Sentry: `X-Sentry-Auth`,
   * `?sentry_key=`). Called with a null body, then if needed with its first 16 KiB, inflated, as a
   * Buffer.
   */
  credential?: (request: Pick<HttpRequest, 'headers' | 'query' | 'body'>) => string | null;
  /** Locations of `credential`, for OpenAPI. */
  credentialIn?: readonly { in: 'header' | 'query'; name: string }[];
  /** Called with the code of each error response, for the plugin's metrics. */
  onRefused?: (code: string) => void;
  /**
   * @returns an object for 200, or an `Answer`: `Reply`, `FileAnswer`, `EventStreamAnswer`,
   *   `Redirect`
   */
  handle(request: HttpRequest): Promise<object> | object;
}
