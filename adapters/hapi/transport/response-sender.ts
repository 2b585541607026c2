/**
 * Sends a response through hapi, or directly if the request's body is unread. Closing while bytes
 * still arrive would reset the connection before the caller reads the response (contract 00: an
 * answer, not a bare reset), so the rest is discarded, up to a time and size.
 */
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Request, ResponseToolkit, Lifecycle } from '@hapi/hapi';
import { getClientNetwork } from '../../../lib/addresses.js';
import { SharedBytes } from '../../../ports/http/index.js';
import type { UnsentBudget } from '../limits/unsent-budget.js';
import { hasETag } from '../streams/file-request.js';
import { BufferedBody } from '../streams/buffered-body.js';
import type { AddressResolver } from '../wire/client-address.js';
import { Compressor, isContentEncoding, type ContentEncoding } from './compressor.js';
import type { OpenRequests } from './open-requests.js';
import { getBodyLength, type HttpResponse } from '../wire/http-response.js';
import { isAwaitingContinue, hasBody } from '../wire/expect-continue.js';
import { isBodyStream, type BodyStream } from '../wire/body-stream.js';

const LINGER_TIMEOUT_MS = 10_000;
export const MIN_COMPRESSED_BYTES = 1_024;
const MAX_LINGER_BYTES = 64 * 1024 * 1024;

/** Minimum size of responses held within the budget; stalled readers are cut. */
export const MIN_BUDGETED_BYTES = 64 * 1024;

type ResponseHeaders = Readonly<Record<string, string | string[]>>;

export interface ResponseSenderServices {
  requests: OpenRequests;
  budget: UnsentBudget;
  stallMs: number;
  addressOf: AddressResolver;
  stopping: () => boolean;
  failed: (thrown: unknown) => void;
}

export class ResponseSender {
  readonly #compressor = new Compressor();

  constructor(private readonly services: ResponseSenderServices) {}

  send(
    request: Request,
    h: ResponseToolkit,
    id: string,
    kind: ResponseHeaders,
    answer: HttpResponse,
  ): Lifecycle.ReturnValue {
    const { req, res } = request.raw;
    const base: ResponseHeaders = this.services.stopping() ? { ...kind, connection: 'close' } : kind;
    if (isBodyStream(answer.body)) {
      this.services.requests.markAnswered(req);
      sendStream(req, res, { ...base, ...answer.headers, 'x-request-id': id }, answer.status, answer.body);
      return h.abandon;
    }
    // An injected request (tests) is not an `IncomingMessage` and has arrived whole.
    if (req instanceof IncomingMessage && isLongBody(answer.body)) {
      const encoding = answer.uncompressed === true ? null : selectEncoding(request, answer.headers);
      void this.#sendLong(request.raw, { ...base, ...answer.headers, 'x-request-id': id }, answer, encoding);
      return h.abandon;
    }
    if (isNotModified(request, answer)) return this.send(request, h, id, kind, toNotModified(answer));
    const body = answer.body instanceof SharedBytes ? Buffer.concat(answer.body.parts) : answer.body;
    if (req instanceof IncomingMessage && !req.complete && hasBody(req) && !req.destroyed) {
      const { status } = answer;
      const headers = { ...base, ...answer.headers, 'x-request-id': id };
      sendEarly(req, res, request.method === 'head', headers, { status, body });
      return h.abandon;
    }
    if (answer.uncompressed === true) Object.assign(request.info, { acceptEncoding: 'identity' });
    const response = h.response(body ?? undefined);
    Object.assign(response.headers, base, answer.headers);
    response.headers['x-request-id'] = id;
    return response.code(answer.status);
  }

  /**
   * Never rejects.
   * @param encoding null: uncompressed
   */
  async #sendLong(
    { req, res }: RawExchange,
    headers: Record<string, string | string[]>,
    { status, body }: HttpResponse,
    encoding: ContentEncoding | null,
  ): Promise<void> {
    const { requests, budget, stallMs, addressOf, failed } = this.services;
    requests.markAnswered(req);
    const bytes = typeof body === 'string' ? Buffer.from(body) : (body as Buffer | SharedBytes);
    const all: typeof headers = { ...headers, vary: 'accept-encoding' };
    const { etag } = headers;
    if (typeof etag === 'string') {
      // A compressed body has a different tag, named as hapi does.
      if (encoding !== null) all['etag'] = etag.replace(/"$/, `-${encoding}"`);
      const known = req.headers['if-none-match'];
      const isKnown = known !== undefined && [etag, String(all['etag'])].some((tag) => hasETag(known, tag, true));
      if (isKnown && status === 200) return void res.writeHead(304, all).end();
    }
    if (req.method === 'HEAD') return void res.writeHead(status, { ...all, 'content-length': bytes.length }).end();
    const address = getClientNetwork(addressOf(req.socket.remoteAddress, req.headers['x-forwarded-for']));
    const held = (own: Buffer | SharedBytes): BufferedBody => new BufferedBody(own, { stallMs, budget, address });
    try {
      if (encoding === null) return sendStream(req, res, all, status, held(bytes));
      const small = await this.#compressor.compress(encoding, bytes, address);
      sendStream(req, res, { ...all, 'content-encoding': encoding }, status, held(small));
    } catch (thrown) {
      failed(thrown);
      res.destroy();
    }
  }
}

/** A compressing proxy makes the tag weak, which must match too (RFC 9110, 13.1.2). */
function isNotModified({ method, headers }: Request, answer: HttpResponse): boolean {
  const known = headers['if-none-match'];
  const etag = answer.headers['etag'];
  if (typeof known !== 'string' || typeof etag !== 'string') return false;
  return answer.status === 200 && (method === 'get' || method === 'head') && hasETag(known, etag, true);
}

function toNotModified({ headers }: HttpResponse): HttpResponse {
  const { 'content-type': _of, ...remainingHeaders } = headers;
  return { status: 304, headers: remainingHeaders, body: null };
}

interface RawExchange {
  req: IncomingMessage;
  res: ServerResponse;
}

const isLongBody = (body: string | Buffer | SharedBytes | null): boolean =>
  body !== null && getBodyLength(body) >= MIN_BUDGETED_BYTES;

function selectEncoding(request: Request, headers: ResponseHeaders): ContentEncoding | null {
  if (headers['content-encoding'] !== undefined) return null;
  const { compressible } = request.server.mime.type(String(headers['content-type']).split(';')[0] ?? '');
  const wanted = request.info.acceptEncoding;
  return compressible && isContentEncoding(wanted) ? wanted : null;
}

function sendEarly(
  req: IncomingMessage,
  res: ServerResponse,
  head: boolean,
  headers: Record<string, string | string[]>,
  { status, body }: { status: number; body: string | Buffer | null },
): void {
  // A client that waits for `100 Continue` sends either nothing or everything, so only a new
  // connection is safe.
  if (isAwaitingContinue(req)) headers['connection'] = 'close';
  else if (headers['connection'] === 'close') delete headers['connection'];
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body ?? '') });
  res.end(head ? undefined : (body ?? undefined));
  discardBody(req);
}

function sendStream(
  req: IncomingMessage,
  res: ServerResponse,
  headers: Record<string, string | string[]>,
  status: number,
  body: BodyStream,
): void {
  if (isAwaitingContinue(req)) headers['connection'] = 'close';
  res.writeHead(status, { ...headers, ...(body.bytes !== null && { 'content-length': body.bytes }) });
  if (req instanceof IncomingMessage && !req.complete && hasBody(req)) discardBody(req);
  void body.send(res);
}

function discardBody(req: IncomingMessage): void {
  let bytes = 0;
  const { socket } = req;
  const giveUp = (): void => void socket.destroy();
  const timer = setTimeout(giveUp, LINGER_TIMEOUT_MS);
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_LINGER_BYTES) giveUp();
  });
  const done = (): void => clearTimeout(timer);
  req.once('end', done).once('close', done);
  req.resume();
}
