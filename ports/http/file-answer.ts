/** A file as an answer: streamed, in parts where the caller asks for parts, never compressed (contract 40, files). */
import { Answer } from './answer.js';

export interface AnsweredFile {
  /** Bytes. */
  size: number;
  /**
   * Strong, in quotation marks: `"3f5a…"`. Other bytes have another one, so that parts of two files are never joined.
   */
  etag: string;
  modifiedAt?: Date;
  /** `application/gzip` */
  contentType: string;
  /**
   * The bytes from `start` up to, and without, `end`, in pieces of 256 KiB or more. Not called for HEAD, 304 and 416.
   * What it throws before its first piece is answered like any error of a handler; later the connection is cut. It is
   * closed (`return()`; a `Readable` is destroyed) when the caller goes away.
   * @param room makes a buffer of 256 KiB for the next piece, one for each, used again when the piece was sent; a
   * source with buffers of its own leaves it alone
   */
  open(start: number, end: number, room: () => Uint8Array): AsyncIterable<Uint8Array>;
}

/**
 * The server decides between 200, 206, 304, 412 and 416 by the request's `Range`, `If-Range`, `If-Match`,
 * `If-None-Match`, `If-Modified-Since` and `If-Unmodified-Since`, and answers HEAD. One range is answered with 206;
 * several at once with the whole file, which RFC 9110 leaves to the server.
 */
export class FileAnswer extends Answer {
  constructor(readonly file: AnsweredFile) {
    super();
  }
}
