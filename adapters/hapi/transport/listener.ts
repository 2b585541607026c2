/**
 * The TCP side. hapi gets its listener from here, so we control two things: the answer to bytes that are not HTTP (an
 * envelope, not a bare line), and the moment of `100 Continue`: only once a route wants the body.
 */
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import type { Ids } from '../../../ports/ids.js';
import { failureResponse } from '../wire/envelope.js';
import { Failure } from '../wire/failure.js';
import { requestId } from '../wire/headers.js';
import { ambiguous } from '../wire/one-reading.js';
import { CountedResponse } from './counted-response.js';
import type { OpenRequests } from './open-requests.js';
import { Turns } from './turns.js';
import { expectsContinue } from '../wire/expectation.js';

/**
 * Time for the head of a request. Bodies that a handler reads have a time of their own: a package may take half a day.
 */
const HEAD_MS = 20_000;
const WHOLE_MS = 12 * 3_600_000;
const IDLE_MS = 65_000;

export const makeListener = (): Server =>
  createServer({
    ServerResponse: CountedResponse,
    headersTimeout: HEAD_MS,
    requestTimeout: WHOLE_MS,
    keepAliveTimeout: IDLE_MS,
    connectionsCheckingInterval: 5_000,
    // Node would answer an empty 400; `ownListener` answers in the envelope.
    requireHostHeader: false,
  });

/**
 * Replaces hapi's listeners; call it after hapi has taken the server.
 * @param front answers a request before hapi where it has to, or gives it to `routed` later
 */
export function ownListener(
  listener: Server,
  ids: Ids,
  requests: OpenRequests,
  front: (req: IncomingMessage, res: ServerResponse, routed: RequestListener) => boolean,
): void {
  const turns = new Turns();
  const listeners = listener.listeners('request') as RequestListener[];
  const routed: RequestListener = (req, res) => {
    for (const listen of listeners) listen(req, res);
  };
  listener.removeAllListeners('request').on('request', (req: IncomingMessage, res: ServerResponse) => {
    turns.take(req, res, () => {
      requests.begin(req, res);
      const refused = ambiguous(req);
      if (refused !== null) refuse(req, res, refused, ids);
      else if (!front(req, res, routed)) routed(req, res);
    });
  });
  listener.removeAllListeners('checkContinue').on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    expectsContinue(req, res);
    listener.emit('request', req, res);
  });
  // Node would answer an empty 417 without a request id.
  listener
    .removeAllListeners('checkExpectation')
    .on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
      turns.take(req, res, () => {
        requests.begin(req, res);
        refuse(req, res, EXPECTATION, ids);
      });
    });
  listener.removeAllListeners('clientError').on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const current = turns.last(socket);
    const underWay = current !== undefined && !current.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    // Node closes the connection behind an answer that says so.
    else if (current?.headersSent === true && !current.shouldKeepAlive) return;
    // Wrong bytes behind a whole request: its answer goes first, or the caller would take ours for it.
    else if (underWay && current.req.complete) current.once('close', () => end(socket, malformed(error, ids)));
    else if (underWay && current.headersSent) socket.destroy();
    else end(socket, malformed(error, ids));
  });
}

const EXPECTATION = new Failure('invalid_request', 'The Expect header may only hold 100-continue.');

/** Answers a request that nothing else answers, and closes its connection. */
export function refuse(req: IncomingMessage, res: ServerResponse, failure: Failure, ids: Ids): void {
  const id = requestId(req.headers['x-request-id'], ids);
  const { status, headers, body } = failureResponse(failure, id);
  const text = String(body);
  res.shouldKeepAlive = false;
  const own = { 'x-content-type-options': 'nosniff', 'x-request-id': id };
  res.writeHead(status, { ...headers, ...own, 'content-length': Buffer.byteLength(text) }).end(text);
}

/** Sends the bytes, and closes when the other side has had the time to read them. */
function end(socket: Duplex, bytes: string): void {
  if (socket.writable) socket.end(bytes, () => setTimeout(() => socket.destroy(), 500).unref());
  else socket.destroy();
}

function malformed(error: NodeJS.ErrnoException, ids: Ids): string {
  const [status, message] = STATUS_OF[error.code ?? ''] ?? [400, 'The request is not valid HTTP/1.1.'];
  const id = ids.uuid();
  const { body } = failureResponse(new Failure('invalid_request', message), id);
  const text = String(body);
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
    `X-Request-Id: ${id}\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
}

/** Status and words by Node's error code. Of the codes of contract 00 only `invalid_request` fits them. */
const STATUS_OF: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The request’s header is larger than 16 KiB.'],
  ERR_HTTP_REQUEST_TIMEOUT: [400, 'The request did not arrive in time.'],
};
