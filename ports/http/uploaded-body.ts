/** Input of a streaming route (`RouteSpec.input.stream`). */
export interface StreamedInput {
  /** Lower case, without parameters: `['application/gzip']`. */
  mediaTypes: readonly string[];
  multipart?: {
    file: string;
    /** Each at most once, before or after the content. */
    fields: readonly string[];
    /** Maximum UTF-8 bytes of each. */
    fieldBytes: number;
  };
  /** Beyond: 413, immediately if the length is declared. */
  bytes: number;
}

/** Streamed body with backpressure; `100 Continue` waits for the first read. */
export interface UploadedBody {
  mediaType: string;
  /** Null when undeclared. */
  declaredBytes: number | null;
  /** Readable once; unread content is discarded after the handler. */
  content: AsyncIterable<Uint8Array>;
  readLeadingFields(): Promise<Record<string, string>>;
  /** Call after `content` has been read completely. */
  readFields(): Promise<Record<string, string>>;
}
