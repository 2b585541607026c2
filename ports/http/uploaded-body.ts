/** A request's body that is too large to be held: the handler reads it while it arrives. */

/** What a route with a streamed body takes (`RouteSpec.input.stream`). */
export interface StreamedInput {
  /** Lower case, without parameters: `['application/gzip']`. Any other is 415. */
  mediaTypes: readonly string[];
  /** `multipart/form-data` is taken too; any other part than these is refused with 422. */
  multipart?: {
    /** Name of the part that is the content. */
    file: string;
    /** Names of the small text parts. Each may come once, before or behind the content. */
    fields: readonly string[];
    /** Size of each, at most, in bytes of UTF-8. */
    fieldBytes: number;
  };
  /** Size of the content, at most. Beyond: 413, at once where the length is declared, else when it is reached. */
  bytes: number;
}

/**
 * `HttpRequest.body` of such a route. The sender sends no faster than `content` is read, and nothing is sent
 * (`100 Continue`) before it is first asked for. An error of the content is a `ServiceError` that may go on as it is:
 * 413 `payload_too_large`, 422 `validation_failed` for a part that is not expected or missing, 400 `invalid_request`
 * for what is malformed, too slow, or cut off because the caller went away.
 */
export interface UploadedBody {
  /** Of the request: one of `mediaTypes`, or `multipart/form-data`. */
  mediaType: string;
  /** Size of the content; null where it is not known before (multipart, chunked). */
  declaredBytes: number | null;
  /** Can be read once. What is not read is thrown away when the handler has answered. */
  content: AsyncIterable<Uint8Array>;
  /** The small parts that stand before the content: read and kept until then. Empty without multipart. */
  first(): Promise<Record<string, string>>;
  /** The small parts by name, once `content` has been read to its end; empty without multipart. */
  fields(): Promise<Record<string, string>>;
}
