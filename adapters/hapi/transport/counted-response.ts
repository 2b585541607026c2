/** An answer that counts the bytes of its body, without its head and the frames of chunks. */
import { ServerResponse, type IncomingMessage } from 'node:http';

type Written = string | Uint8Array;

export class CountedResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  /** Handed over to the connection; of a caller that has left, more than it took. */
  bodyBytes = 0;

  override write(...args: unknown[]): boolean {
    this.#count(args);
    return (super.write as (...given: unknown[]) => boolean).apply(this, args);
  }

  override end(...args: unknown[]): this {
    this.#count(args);
    return (super.end as (...given: unknown[]) => this).apply(this, args);
  }

  #count([chunk, encoding]: readonly unknown[]): void {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    // Node sends the head alone.
    if (this.req.method === 'HEAD' || this.statusCode === 204 || this.statusCode === 304) return;
    this.bodyBytes += sizeOf(chunk, encoding);
  }
}

const sizeOf = (chunk: Written, encoding: unknown): number =>
  typeof chunk === 'string'
    ? Buffer.byteLength(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
    : chunk.length;
