import { ServerResponse, type IncomingMessage } from 'node:http';

type BodyChunk = string | Uint8Array;

export class CountedResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  /** Bytes handed to the connection; more than what a disconnected client received. */
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
    if (this.req.method === 'HEAD' || this.statusCode === 204 || this.statusCode === 304) return;
    this.bodyBytes += getByteLength(chunk, encoding);
  }
}

const getByteLength = (chunk: BodyChunk, encoding: unknown): number =>
  typeof chunk === 'string'
    ? Buffer.byteLength(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
    : chunk.length;
