/**
 * Reads a request's body from the raw stream: capped while it arrives, so that a body without `Content-Length` is
 * refused as early as one with; inflated on zlib's threads, capped while it grows. hapi's own parser was rejected: it
 * reads before the credential is known, answers its own errors, and has one cap for both sizes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliDecompress, gunzip, inflate, inflateRaw, type InputType } from 'node:zlib';
import { Failure, OVERLOADED } from '../errors/failure.js';

/** Bytes of bodies held at once by all requests, so that many large ones cannot fill the memory. */
export class BodyBudget {
  #held = 0;
  constructor(private readonly most: number) {}
  take(bytes: number): boolean {
    if (this.#held + bytes > this.most) return false;
    this.#held += bytes;
    return true;
  }
  give(bytes: number): void {
    this.#held -= bytes;
  }
  get held(): number {
    return this.#held;
  }
}

export interface ReadOptions {
  /** Bytes on the wire. */
  limit: number;
  timeoutMs: number;
  budget: BodyBudget;
}

const EMPTY = Buffer.alloc(0);

/** Requests with `Expect: 100-continue`, which wait for a word before they send their body. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();
export const expectsContinue = (req: IncomingMessage, res: ServerResponse): void => void waiting.set(req, res);
export const awaitsContinue = (req: IncomingMessage): boolean => waiting.has(req);

export const tooLarge = (limit: number): Failure =>
  new Failure('payload_too_large', `The body is larger than ${limit} bytes.`);

/** Whether the request announces a body at all. */
export const hasBody = (req: IncomingMessage): boolean =>
  req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';

/**
 * The whole body as it came over the wire. Resolves with a `Failure` for one that is too large, too slow or cut off.
 * The caller gives the bytes back to the budget when it has parsed them.
 */
export function readBody(req: IncomingMessage, options: ReadOptions): Promise<Buffer | Failure> {
  const { limit, timeoutMs, budget } = options;
  if (!hasBody(req)) return Promise.resolve(EMPTY);
  const declared = req.headers['content-length'];
  if (declared !== undefined && Number(declared) > limit) return Promise.resolve(tooLarge(limit));
  const res = waiting.get(req);
  if (res) {
    waiting.delete(req);
    res.writeContinue();
  }
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (outcome: Buffer | Failure): void => {
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      if (outcome instanceof Failure) budget.give(bytes);
      chunks = [];
      resolve(outcome);
    };
    const onData = (chunk: Buffer): void => {
      if (bytes + chunk.length > limit) return settle(tooLarge(limit));
      if (!budget.take(chunk.length)) return settle(OVERLOADED);
      bytes += chunk.length;
      chunks.push(chunk);
    };
    const onEnd = (): void => settle(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes));
    const onClose = (): void => settle(new Failure('invalid_request', 'The body was cut off.'));
    const timer = setTimeout(
      () =>
        settle(
          new Failure('invalid_request', `The body did not arrive within ${Math.ceil(timeoutMs / 1000)} seconds.`),
        ),
      timeoutMs,
    );
    req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

type Inflate = (
  input: InputType,
  options: { maxOutputLength: number; chunkSize: number },
  done: (error: Error | null, result: Buffer) => void,
) => void;

/** Undoes `Content-Encoding`. @returns 415 for an encoding it does not know, 413 over the limit, 400 for damaged data */
export async function inflateBody(
  body: Buffer,
  encoding: string | undefined,
  limit: number,
): Promise<Buffer | Failure> {
  const method = inflaterOf(encoding?.trim().toLowerCase() ?? '', body);
  if (method === undefined) {
    return new Failure('unsupported_media_type', 'The content encoding is not one of gzip, deflate, br.', {
      headers: { 'accept-encoding': 'gzip, deflate, br' },
    });
  }
  if (method === null || body.length === 0) return body.length > limit ? tooLarge(limit) : body;
  return new Promise((resolve) => {
    method(body, { maxOutputLength: limit, chunkSize: 65_536 }, (error, result) => {
      if (!error) return resolve(result);
      const over = 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
      resolve(over ? tooLarge(limit) : new Failure('invalid_request', 'The compressed body is damaged.'));
    });
  });
}

/** Undefined: unknown; null: nothing to do. `deflate` comes with a zlib header or bare, depending on who wrote the client. */
function inflaterOf(encoding: string, body: Buffer): Inflate | null | undefined {
  switch (encoding) {
    case '':
    case 'identity':
      return null;
    case 'gzip':
    case 'x-gzip':
      return gunzip;
    case 'deflate':
      return ((body[0] ?? 0) & 0x0f) === 8 && (((body[0] ?? 0) << 8) | (body[1] ?? 0)) % 31 === 0
        ? inflate
        : inflateRaw;
    case 'br':
      return brotliDecompress;
    default:
      return undefined;
  }
}
