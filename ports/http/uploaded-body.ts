/** Streamed request bodies. */

/** Input of a streaming route (`RouteSpec.input.stream`). */
export interface StreamedInput {
  /** Lower case, without parameters: `['application/gzip']`. Others get 415. */
  mediaTypes: readonly string[];
  /** Also accepts `multipart/form-data`; unexpected parts get 422. */
  multipart?: {
    /** Part with the content. */
    file: string;
    /** Small text parts, each at most once, before or after the content. */
    fields: readonly string[];
    /** Maximum UTF-8 bytes of each. */
    fieldBytes: number;
  };
  /** Maximum content size; beyond: 413, immediately if the length is declared. */
  bytes: number;
}

/**
 * Streamed body with backpressure; `100 Continue` waits for the first read. Stream errors are
 * `ServiceError`s that may propagate: 413 `payload_too_large`, 422 `validation_failed` (unexpected
 * or missing part), 400 `invalid_request` (malformed, slow, or disconnected).
 */
export interface UploadedBody {
  /** One of `mediaTypes`, or `multipart/form-data`. */
  mediaType: string;
  /** Content size; null when undeclared (multipart, chunked). */
  declaredBytes: number | null;
  /** Readable once; unread content is discarded after the handler. */
  content: AsyncIterable<Uint8Array>;
  /** Reads the parts before the content. Empty without multipart. */
  readLeadingFields(): Promise<Record<string, string>>;
  /**
   * Returns the parts by name after `content` has been read completely. Empty without multipart.
   */
  readFields(): Promise<Record<string, string>>;
}
