/** A route as data: what it takes, who may call it, and the handler. */
import type { ObjectSchema, Schema } from 'joi';
import type { Access } from './access.js';
import type { BodySieve } from './body-sieve.js';
import type { OpenBucket, RateClass } from './rates.js';
import type { HttpRequest } from './request.js';
import type { ToolSpec } from './tool.js';
import type { StreamedInput } from './uploaded-body.js';

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

export interface RouteSpec {
  method: HttpMethod | readonly HttpMethod[];
  /** `/api/bugtracker/v1/bugs/{id}` */
  path: string;
  /** Further paths with the same meaning. */
  aliases?: readonly string[];
  /**
   * Its name in openapi.json, and so of the function in programs made from it: a verb with its object, `reportError`.
   * One for each path with each method, in their order, where there are several. Absent: made of method and path.
   */
  operationId?: string | readonly string[];
  /** Its group in openapi.json. Absent: the first word of its path behind `/api/`. */
  tag?: string;
  summary: string;
  description?: string;
  access: Access;
  input?: {
    params?: ObjectSchema;
    query?: ObjectSchema;
    /** Validated body; unknown fields are dropped (contract 00, envelope). */
    body?: Schema;
    /** The body is streamed to the handler and never held; instead of `body`. POST, PUT and PATCH. */
    stream?: StreamedInput;
    /**
     * The body is what a machine reports, and no report may be lost: a text with a live token is 422 in every other
     * body, and none is refused in this one. The intake of errors takes secrets out (contract 21, truncation and
     * scrubbing).
     */
    report?: boolean;
    /** A body is optional: none is `{}`. */
    optionalBody?: boolean;
    /** Media type of the body, or several, where it is not JSON; for the description. */
    mediaType?: string | readonly string[];
    /** Request headers that the handler reads, each with what it means; for the description. */
    headers?: Readonly<Record<string, string>>;
  };
  /**
   * Shape of the data fields (the envelope is added in the description); used by OpenAPI and by tests. Where the shape
   * depends on the status: status → shape.
   */
  output?: Schema | Readonly<Record<number, Schema>>;
  /** Success statuses of one shape, for the description. Default 200. */
  status?: number | readonly number[];
  /** Error codes that are this route's own: those of credential, limits, input and faults go without saying. */
  errors?: readonly string[];
  /**
   * Whether an unknown query parameter is 400 (contract 00, amendments). Default: true for every method but GET and
   * HEAD, unless the route is `plain`. Where it is false, unknown parameters are ignored, and reads name them in
   * `warnings` of the answer.
   */
  strictQuery?: boolean;
  /** Answers without the envelope, errors included (license endpoints; contract 00, envelope). */
  bare?: boolean;
  /** Successful answers go without the envelope, errors with it: for clients that expect another service's answer. */
  plain?: boolean;
  /** Not in openapi.json. */
  hidden?: boolean;
  /** Whether this reading call may wait for something to happen: then it takes no turn among the others that read. */
  waits?: (request: HttpRequest) => boolean;
  /** A host that shows a page of this plugin (`OwnHosts`) serves this route too. */
  onOwnHosts?: boolean;
  /** Offered to agents. */
  tool?: ToolSpec | readonly ToolSpec[];
  limits?: {
    rate?: RateClass;
    /** Of a call that is counted as `public`. Absent: `rest`, and `store` where HTTP Basic guards. */
    bucket?: OpenBucket;
    /**
     * Whose verified key or password stands behind an answer; null: nobody’s. Such an answer is given where the bucket
     * of its address is used up too, which may be the work of others; it has a bucket of its own.
     */
    proves?: (request: HttpRequest, answer: object) => string | null;
    /** How many units this call counts (elements of an array intake). Called with the parsed body. */
    cost?: (body: unknown) => number;
    /**
     * How many units this call counts by category, each in a bucket of its own for every credential; categories that
     * are missing cost nothing. A category that is used up stands in `limited` of the request, for the handler to leave
     * it out; the call is refused when all are. Called with the parsed body, in place of `cost`.
     */
    categories?: (body: unknown) => ReadonlyMap<string, number>;
    /** Further headers of a 429 for categories that are used up. @param limited seconds until they are taken again */
    limited?: (limited: ReadonlyMap<string, number>) => Record<string, string>;
    /** Leaves parts out of a body that is larger than its limit, while it arrives. @param most bytes that are kept */
    sieve?: (most: number) => BodySieve;
    /** Body size in bytes on the wire; default `limits.json_bytes`. */
    bytes?: number;
    /**
     * Bytes at the beginning of a raw body that the handler gets, inflated; the body may be of any size and in any
     * state. What follows is read and dropped, up to 64 MiB. In place of `bytes` and `inflate`.
     */
    keptBytes?: number;
    /** Accept gzip, deflate, br and (on Node 22.15 or later) zstd bodies, inflated up to `limits.inflated_bytes`. */
    inflate?: boolean;
    /** Parse JSON whatever the content type says (Sentry SDKs), or hand over the raw bytes as a Buffer. */
    payload?: 'json' | 'json-any-type' | 'raw';
    /** What raw bytes say, read once: `cost` and the handler get it in their place. */
    read?: (bytes: Buffer) => unknown;
    /**
     * Refused with 507 while less is free than `health.min_free_bytes`: an intake, whose writes can wait at the sender.
     */
    space?: boolean;
    /** Further headers of a 429, for clients that do not go by `Retry-After`. @param seconds what it says */
    refused?: (seconds: number) => Record<string, string>;
  };
  /** Answer CORS pre-flights and `Access-Control-Allow-Origin: *` (intake paths only). */
  cors?: boolean;
  /**
   * Take the credential from here instead of `Authorization` (Sentry: `X-Sentry-Auth`, `?sentry_key=`). Asked with the
   * body null first; when that gives none, once more with the first 16 KiB of the body, inflated, as a Buffer.
   */
  credential?: (request: Pick<HttpRequest, 'headers' | 'query' | 'body'>) => string | null;
  /** Where `credential` looks, for the description. */
  credentialIn?: readonly { in: 'header' | 'query'; name: string }[];
  /** A call was answered with an error, here or before it came here: for the plugin's own numbers. */
  onRefused?: (code: string) => void;
  /** @returns an object for 200, or an `Answer`: a `Reply`, a `FileAnswer`, an `EventStreamAnswer`, a `Redirect` */
  handle(request: HttpRequest): Promise<object> | object;
}
