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
import { buildFailureResponse } from '../wire/envelope.js';
import { Failure } from '../wire/failure.js';
import { resolveRequestId } from '../wire/headers.js';
import { checkAmbiguity } from '../wire/request-ambiguity.js';
import { CountedResponse } from './counted-response.js';
import type { OpenRequests } from './open-requests.js';
import { PipelineQueue } from './pipeline-queue.js';
import { markAwaitingContinue } from '../wire/expect-continue.js';

/** Streamed bodies have their own limit: an upload may take half a day. */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 12 * 3_600_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

export const createListener = (): Server =>
  createServer({
    ServerResponse: CountedResponse,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: 5_000,
    // Node would answer an empty 400; `installListeners` answers with the envelope.
    requireHostHeader: false,
  });

/**
 * Call after hapi has taken the server.
 * @param front handles a request before hapi, or passes it to `routed` later
 */
export function installListeners(
  listener: Server,
  ids: Ids,
  requests: OpenRequests,
  front: (req: IncomingMessage, res: ServerResponse, routed: RequestListener) => boolean,
): void {
  const turns = new PipelineQueue();
  const listeners = listener.listeners('request') as RequestListener[];
  const routed: RequestListener = (req, res) => {
    for (const listen of listeners) listen(req, res);
  };
  listener.removeAllListeners('request').on('request', (req: IncomingMessage, res: ServerResponse) => {
    turns.enqueue(req, res, () => {
      requests.track(req, res);
      const rejection = checkAmbiguity(req);
      if (rejection !== null) sendFailure(req, res, rejection, ids);
      else if (!front(req, res, routed)) routed(req, res);
    });
  });
  listener.removeAllListeners('checkContinue').on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    markAwaitingContinue(req, res);
    listener.emit('request', req, res);
  });
  // Node would answer an empty 417 without a request id.
  listener
    .removeAllListeners('checkExpectation')
    .on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
      turns.enqueue(req, res, () => {
        requests.track(req, res);
        sendFailure(req, res, EXPECTATION_FAILED, ids);
      });
    });
  listener.removeAllListeners('clientError').on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const current = turns.getLastResponse(socket);
    const underWay = current !== undefined && !current.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    // Node closes the connection after such a response.
    else if (current?.headersSent === true && !current.shouldKeepAlive) return;
    // Invalid bytes after a complete request: its response goes first, or the caller would take
    // this one for it.
    else if (underWay && current.req.complete)
      current.once('close', () => endSocket(socket, formatMalformedResponse(error, ids)));
    else if (underWay && current.headersSent) socket.destroy();
    else endSocket(socket, formatMalformedResponse(error, ids));
  });
}

const EXPECTATION_FAILED = new Failure('invalid_request', 'The Expect header must be 100-continue.');

export function sendFailure(req: IncomingMessage, res: ServerResponse, failure: Failure, ids: Ids): void {
  const id = resolveRequestId(req.headers['x-request-id'], ids);
  const { status, headers, body } = buildFailureResponse(failure, id);
  const text = String(body);
  res.shouldKeepAlive = false;
  const own = { 'x-content-type-options': 'nosniff', 'x-request-id': id };
  res.writeHead(status, { ...headers, ...own, 'content-length': Buffer.byteLength(text) }).end(text);
}

function endSocket(socket: Duplex, bytes: string): void {
  if (socket.writable) socket.end(bytes, () => setTimeout(() => socket.destroy(), 500).unref());
  else socket.destroy();
}

function formatMalformedResponse(error: NodeJS.ErrnoException, ids: Ids): string {
  const [status, message] = STATUS_BY_ERROR[error.code ?? ''] ?? [400, 'The request is not valid HTTP/1.1.'];
  const id = ids.uuid();
  const { body } = buildFailureResponse(new Failure('invalid_request', message), id);
  const text = String(body);
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
    `X-Request-Id: ${id}\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
}

/** Of the codes of contract 00 only `invalid_request` fits. */
const STATUS_BY_ERROR: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The request headers are larger than 16 KiB.'],
  ERR_HTTP_REQUEST_TIMEOUT: [400, 'The request did not arrive in time.'],
};
