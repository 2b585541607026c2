/**
 * Hands an answer to hapi, or, when the request's body has not been read to its end, straight to the socket. An answer
 * that is followed by a close while bytes still arrive becomes a reset at the other side, and the caller never reads why
 * (contract 00: an answer, not a bare reset). So the rest is read and thrown away, for a while and up to a size.
 */
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Request, ResponseToolkit, Lifecycle } from '@hapi/hapi';
import type { HttpResponse } from './http-response.js';
import { awaitsContinue, hasBody } from '../body/wire.js';
import { isBodyStream, type BodyStream } from '../streams/body-stream.js';

const LINGER_MS = 10_000;
/** Texts of this many bytes are compressed for those who take that. */
export const COMPRESSED_FROM = 1_024;
const LINGER_BYTES = 64 * 1024 * 1024;

/** @param base headers of every answer of its kind; the answer's own go over them */
export function send(
  request: Request,
  h: ResponseToolkit,
  id: string,
  base: Readonly<Record<string, string | string[]>>,
  answer: HttpResponse,
): Lifecycle.ReturnValue {
  const { req, res } = request.raw;
  if (isBodyStream(answer.body)) {
    sendStream(req, res, { ...base, ...answer.headers, 'x-request-id': id }, answer.status, answer.body);
    return h.abandon;
  }
  // An injected request (tests) is none, and has arrived whole.
  if (req instanceof IncomingMessage && !req.complete && hasBody(req) && !req.destroyed) {
    const { status, body } = answer;
    const headers = { ...base, ...answer.headers, 'x-request-id': id };
    sendEarly(req, res, request.method === 'head', headers, { status, body });
    return h.abandon;
  }
  // What hapi has understood of `Accept-Encoding`.
  if (answer.uncompressed === true) Object.assign(request.info, { acceptEncoding: 'identity' });
  const response = h.response(answer.body ?? undefined);
  Object.assign(response.headers, base, answer.headers);
  response.headers['x-request-id'] = id;
  return response.code(answer.status);
}

/** What hapi has to finish: compressing what is long enough, for those who take that. */
export const isForHapi = (req: IncomingMessage, { body, uncompressed }: HttpResponse): boolean =>
  req.headers['accept-encoding'] !== undefined &&
  uncompressed !== true &&
  (typeof body === 'string' || Buffer.isBuffer(body)) &&
  Buffer.byteLength(body) >= COMPRESSED_FROM;

/**
 * Answers a request that hapi has not seen, with the headers that hapi would send.
 * @param last the connection takes no further request
 */
export function sendDirect(
  { req, res }: { req: IncomingMessage; res: ServerResponse },
  id: string,
  base: Readonly<Record<string, string | string[]>>,
  { status, headers, body }: HttpResponse,
  last: boolean,
): void {
  if (isBodyStream(body)) {
    return sendStream(req, res, { ...base, ...headers, 'x-request-id': id }, status, body);
  }
  if (!req.complete && hasBody(req) && !req.destroyed) {
    return sendEarly(req, res, false, { ...base, ...headers, 'x-request-id': id }, { status, body });
  }
  const bytes = body ?? '';
  const length = Buffer.byteLength(bytes);
  // Names and values in turn: an object made for each answer would cost more than its text.
  const head: (string | string[] | number)[] = ['x-request-id', id];
  if (status !== 204) head.push('content-length', length);
  for (const name in base) if (headers[name] === undefined) head.push(name, base[name] as string);
  for (const name in headers) head.push(name, headers[name] as string);
  // Asked for with `Accept-Encoding` or `Range`, the answer is another: caches have to know.
  if (length >= COMPRESSED_FROM || status === 204) head.push('vary', 'accept-encoding');
  if (status === 200 && length > 0 && req.method === 'GET') head.push('accept-ranges', 'bytes');
  if (last) head.push('connection', 'close');
  res.writeHead(status, head).end(bytes);
}

function sendEarly(
  req: IncomingMessage,
  res: ServerResponse,
  head: boolean,
  headers: Record<string, string | string[]>,
  { status, body }: { status: number; body: string | Buffer | null },
): void {
  // A client that waits for `100 Continue` sends nothing more, or everything: only a new connection is safe.
  if (awaitsContinue(req)) headers['connection'] = 'close';
  else if (headers['connection'] === 'close') delete headers['connection'];
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body ?? '') });
  res.end(head ? undefined : (body ?? undefined));
  drain(req);
}

function sendStream(
  req: IncomingMessage,
  res: ServerResponse,
  headers: Record<string, string | string[]>,
  status: number,
  body: BodyStream,
): void {
  if (awaitsContinue(req)) headers['connection'] = 'close';
  res.writeHead(status, { ...headers, ...(body.bytes !== null && { 'content-length': body.bytes }) });
  if (req instanceof IncomingMessage && !req.complete && hasBody(req)) drain(req);
  void body.send(res);
}

/** Reads on, so that the sender comes to read the answer. */
function drain(req: IncomingMessage): void {
  let bytes = 0;
  const { socket } = req;
  const giveUp = (): void => void socket.destroy();
  const timer = setTimeout(giveUp, LINGER_MS);
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) giveUp();
  });
  const done = (): void => clearTimeout(timer);
  req.once('end', done).once('close', done);
  req.resume();
}
