/** Streamed file responses with range support, uncompressed (contract 40, files). */
import { Answer } from './answer.js';

export interface StreamableFile {
  /** Bytes. */
  size: number;
  /**
   * Strong ETag with quotes: `"3f5a…"`. It changes with the bytes, so that ranges of different
   * files are never combined.
   */
  etag: string;
  modifiedAt?: Date;
  /** `application/gzip` */
  contentType: string;
  /**
   * Reads the bytes from `start` to `end` (exclusive) in chunks of 256 KiB or more; not for HEAD,
   * 304 and 416. Errors before the first chunk become responses, later ones cut the connection.
   * Closed (`return()`, `destroy()`) on disconnect.
   * @param room allocates a reusable 256 KiB buffer per chunk; optional to use
   */
  open(start: number, end: number, room: () => Uint8Array): AsyncIterable<Uint8Array>;
}

/**
 * Responds with 200, 206, 304, 412 or 416 by `Range`, `If-Range`, `If-Match`, `If-None-Match`,
 * `If-Modified-Since` and `If-Unmodified-Since`, and to HEAD. Multiple ranges get the whole file
 * (RFC 9110).
 */
export class FileAnswer extends Answer {
  constructor(readonly file: StreamableFile) {
    super();
  }
}
