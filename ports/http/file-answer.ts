/** Streamed file responses with range support, uncompressed (contract 40, files). */
import { Answer } from './answer.js';

export interface StreamableFile {
  /** Bytes. */
  size: number;
  /**
   * Strong, with quotes. It changes with the bytes, so that ranges of different files are never
   * combined.
   */
  etag: string;
  modifiedAt?: Date;
  /** `application/gzip` */
  contentType: string;
  /**
   * Reads from `start` to `end` (exclusive); not for HEAD, 304 and 416. Errors before the first
   * chunk become responses, later ones cut the connection. Closed (`return()`, `destroy()`) on
   * disconnect.
   * @param room allocates a reusable 256 KiB buffer per chunk; optional to use
   */
  open(start: number, end: number, room: () => Uint8Array): AsyncIterable<Uint8Array>;
}

/**
 * File response with conditional and range requests (RFC 9110); multiple ranges get the whole file.
 */
export class FileAnswer extends Answer {
  constructor(readonly file: StreamableFile) {
    super();
  }
}
