import type { LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { getServerName, getTlsContext } from './tls-trust.js';
import { checkServerIdentity, TLSSocket, type PeerCertificate } from 'node:tls';
import {
  OutboundError,
  type OutboundRequest,
  type OutboundResponse,
  type PartialBody,
  type ServerCertificate,
} from '../../ports/outbound.js';
import { parseHostHeader, stripBrackets } from '../../lib/host.js';
import { describeConnectFault } from './connect-faults.js';
import { isPublicAddress } from './egress.js';
import type { Deadlines } from './deadlines.js';
import type { CheckedConnectionOptions, SocketPools } from './socket-pools.js';

export interface ConnectionRoute {
  url: URL;
  addresses: readonly LookupAddress[];
  ca: string | undefined;
  sockets: SocketPools | null;
}

export type ExchangeResult = Omit<OutboundResponse, 'duration_ms'>;

/** A new connection may be tried. */
export class StaleConnectionError extends Error {
  override name = 'StaleConnection';
}

const MAX_HEADER_BYTES = 80 * 1024;
const CONNECT_ATTEMPT_MS = 1_000;
const MIN_CONNECT_ATTEMPT_MS = 250;

const RESERVED_HEADERS = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'expect']);
const TLS_ERROR_CODE_PATTERN = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

type ExchangeStage = 'connect' | 'tls' | 'exchange';

const createPinnedLookup =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };

function toOutboundError(error: NodeJS.ErrnoException, stage: ExchangeStage): OutboundError {
  const code = error.code ?? '';
  if (TLS_ERROR_CODE_PATTERN.test(code)) return new OutboundError('tls', `TLS failed: ${code}`, code);
  if (stage === 'connect') return new OutboundError('connect', describeConnectFault(code, error.message));
  if (code === 'HPE_HEADER_OVERFLOW')
    return new OutboundError('reset', `the response headers are longer than ${MAX_HEADER_BYTES / 1024} KiB`);
  if (code.startsWith('HPE_')) return new OutboundError('reset', `the response is not HTTP: ${code}`);
  if (stage === 'tls' && code !== 'ECONNRESET') return new OutboundError('tls', `TLS failed: ${code || error.message}`);
  return new OutboundError('reset', 'the connection was closed before the response was complete');
}

function buildHeaders(request: OutboundRequest): Record<string, string | number> {
  const headers: Record<string, string | number> = { 'accept-encoding': 'identity' };
  for (const name in request.headers) {
    if (!RESERVED_HEADERS.has(name.toLowerCase())) headers[name] = request.headers[name] as string;
  }
  if (request.body !== undefined) headers['content-length'] = Buffer.byteLength(request.body);
  else if (['POST', 'PUT', 'PATCH'].includes(request.method)) headers['content-length'] = 0;
  if (request.host !== undefined) headers['host'] = request.host;
  return headers;
}

interface FamilyOptions {
  autoSelectFamily: boolean;
  autoSelectFamilyAttemptTimeout: number;
}

function buildRequestOptions(
  request: OutboundRequest,
  { url, addresses, ca, sockets }: ConnectionRoute,
): https.RequestOptions & CheckedConnectionOptions & FamilyOptions {
  const kind = url.protocol !== 'https:' ? 'plain' : request.certificate === true ? 'whole' : 'secure';
  const hostname = stripBrackets(url.hostname);
  const named = request.host === undefined ? hostname : parseHostHeader(request.host);
  const { ca: own, insecure = false } = request.tls ?? {};
  const authorities = [own, ca].filter((one) => one !== undefined);
  const secureContext = kind === 'plain' ? undefined : getTlsContext(authorities);
  const wait = (request.connectTimeoutMs ?? 5_000) / (addresses.length + 1);
  return {
    method: request.method,
    protocol: url.protocol,
    hostname,
    port: url.port,
    path: `${url.pathname}${url.search}`,
    agent: sockets === null ? false : sockets[kind],
    checked: [named, ...addresses.map(({ address }) => address), ...authorities].join(),
    lookup: createPinnedLookup(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.round(Math.max(MIN_CONNECT_ATTEMPT_MS, Math.min(CONNECT_ATTEMPT_MS, wait))),
    maxHeaderSize: MAX_HEADER_BYTES,
    servername: getServerName(named) ?? '',
    ...(isIP(named) !== 0 && {
      checkServerIdentity: (_host: string, certificate: PeerCertificate) => checkServerIdentity(named, certificate),
    }),
    rejectUnauthorized: !insecure,
    headers: buildHeaders(request),
    ...(secureContext !== undefined && { secureContext }),
  };
}

/** Null without TLS or when it cannot be read. */
export function readPeerCertificate(socket: Socket): ServerCertificate | null {
  if (!(socket instanceof TLSSocket)) return null;
  const { subject, issuer, valid_to } = socket.getPeerCertificate();
  const until = Date.parse(valid_to ?? '');
  if (Number.isNaN(until)) return null;
  const named = (of: typeof subject | undefined): string => [of?.CN ?? of?.O ?? ''].flat().join(', ').slice(0, 200);
  return { subject: named(subject), issuer: named(issuer), valid_until: new Date(until).toISOString() };
}

/**
 * @throws OutboundError
 * @throws StaleConnection
 */
export function sendExchange(
  route: ConnectionRoute,
  request: OutboundRequest,
  clock: Deadlines,
): Promise<ExchangeResult> {
  const secure = route.url.protocol === 'https:';
  const maxBytes = request.maxBytes ?? 65_536;
  return new Promise((resolve, reject) => {
    let stage: ExchangeStage = 'connect';
    let call: http.ClientRequest;
    try {
      call = (secure ? https : http).request(buildRequestOptions(request, route));
    } catch (error) {
      reject(new OutboundError('invalid_url', `the request cannot be sent: ${(error as Error).message}`));
      return;
    }
    let answered = false;
    const fail = (fault: Error): void => {
      call.destroy();
      reject(fault);
    };
    clock.onFault((fault) => {
      if (!answered || request.partial === undefined) fail(fault);
    });
    call.on('socket', (socket) => {
      if (call.reusedSocket) {
        stage = 'exchange';
        clock.markConnected();
        return;
      }
      socket.once('connect', () => {
        stage = secure ? 'tls' : 'exchange';
        if (!secure) clock.markConnected();
      });
      socket.once('secureConnect', () => {
        stage = 'exchange';
        clock.markConnected();
      });
    });
    call.on('error', (error: NodeJS.ErrnoException) => {
      const fault = toOutboundError(error, stage);
      fail(
        call.reusedSocket && !answered && fault.fault === 'reset' && isConnectionGone(error)
          ? new StaleConnectionError()
          : fault,
      );
    });
    call.on('close', () => {
      if (!answered) fail(new OutboundError('reset', 'the connection was closed without a response'));
    });
    call.on('response', (response) => {
      answered = true;
      const status = response.statusCode ?? 0;
      const from = isPublicAddress(response.socket.remoteAddress ?? '');
      const shown = request.certificate === true && { certificate: readPeerCertificate(response.socket) };
      readBody(response, maxBytes, request.partial, clock)
        .then((body) => {
          // A connection with unread data cannot be reused.
          if (!response.complete) call.destroy();
          const cookies = response.headers['set-cookie'];
          const set = cookies !== undefined && { cookies };
          return resolve({
            status,
            headers: toPlainHeaders(response.headers),
            public: from,
            ...set,
            ...shown,
            ...body,
          });
        })
        .catch((error: NodeJS.ErrnoException) => fail(toOutboundError(error, 'exchange')));
    });
    call.end(request.body);
  });
}

const isConnectionGone = ({ code }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE';

type ReadBody = Pick<OutboundResponse, 'body' | 'truncated' | 'waited_ms'>;

function createSearch(text: string): (chunk: Buffer) => boolean {
  const { length } = Buffer.from(text);
  let end = Buffer.alloc(0);
  return (chunk) => {
    const searched = Buffer.concat([end, chunk]);
    end = searched.subarray(Math.max(0, searched.length - length + 1));
    return searched.includes(text);
  };
}

function readBody(
  response: http.IncomingMessage,
  maxBytes: number,
  partial: PartialBody | undefined,
  clock: Deadlines,
): Promise<ReadBody> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const isEnough = partial?.until === undefined ? () => false : createSearch(partial.until);
    let timer: NodeJS.Timeout | undefined;
    const end = (body: ReadBody): void => {
      clearTimeout(timer);
      // One read of the socket may deliver thousands of further chunks.
      response.off('data', add);
      resolve(body);
    };
    const cut = (): void => {
      const waited_ms = Math.round(performance.now() - began);
      end({ body: Buffer.concat(chunks), truncated: true, waited_ms });
    };
    if (partial !== undefined) {
      clock.onFault(cut);
      if (Number.isFinite(partial.waitMs)) timer = setTimeout(cut, partial.waitMs);
    }
    const add = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) end({ body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: true });
      else if (isEnough(chunk)) end({ body: Buffer.concat(chunks), truncated: true });
    };
    response.on('data', add);
    response.on('end', () => end({ body: Buffer.concat(chunks), truncated: false }));
    response.on('error', reject);
    response.on('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
  });
}

function toPlainHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  const all: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    all[name] = Array.isArray(value) ? value.join(', ') : (value ?? '');
  }
  return all;
}
