/**
 * One HTTP exchange over a connection to a checked address (outbound.ts): what went wrong, in the words of the port.
 */
import type { LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  OutboundError,
  type OutboundRequest,
  type OutboundResponse,
  type ServerCertificate,
} from '../../ports/outbound.js';
import { isPublic } from './egress.js';
import type { Deadlines } from './deadlines.js';
import type { Checked, Sockets } from './sockets.js';

export interface Route {
  url: URL;
  /** Checked; the connection goes to one of them. */
  addresses: readonly LookupAddress[];
  ca: string | undefined;
  /** Where kept connections are; null: a new one, used once. */
  sockets: Sockets | null;
}

export type Exchanged = Omit<OutboundResponse, 'duration_ms'>;

/** A kept connection that was closed before any answer: the receiver had given it up, so a new one is tried. */
export class StaleConnection extends Error {
  override name = 'StaleConnection';
}

const OURS = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'expect']);
const TLS_CODE = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

type Stage = 'connect' | 'tls' | 'exchange';

/** Answers node's look-up with the checked addresses, whatever it asks for. */
const pinned =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };

function faultOf(error: NodeJS.ErrnoException, stage: Stage): OutboundError {
  const code = error.code ?? '';
  if (TLS_CODE.test(code)) return new OutboundError('tls', `TLS failed: ${code}`, code);
  if (stage === 'connect') return new OutboundError('connect', `no connection: ${code || error.message}`);
  if (code.startsWith('HPE_')) return new OutboundError('reset', `the answer is not HTTP: ${code}`);
  if (stage === 'tls' && code !== 'ECONNRESET') return new OutboundError('tls', `TLS failed: ${code || error.message}`);
  return new OutboundError('reset', 'the connection was closed before the answer was complete');
}

function headersOf(request: OutboundRequest): Record<string, string | number> {
  const headers: Record<string, string | number> = { 'accept-encoding': 'identity' };
  for (const name in request.headers) {
    if (!OURS.has(name.toLowerCase())) headers[name] = request.headers[name] as string;
  }
  if (request.body !== undefined) headers['content-length'] = Buffer.byteLength(request.body);
  else if (request.method === 'POST') headers['content-length'] = 0;
  return headers;
}

function optionsOf(request: OutboundRequest, { url, addresses, ca, sockets }: Route): https.RequestOptions & Checked {
  const kind = url.protocol !== 'https:' ? 'plain' : request.certificate === true ? 'whole' : 'secure';
  return {
    method: request.method,
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    path: `${url.pathname}${url.search}`,
    agent: sockets === null ? false : sockets[kind],
    checked: addresses.map(({ address }) => address).join(),
    lookup: pinned(addresses),
    rejectUnauthorized: true,
    headers: headersOf(request),
    ...(ca === undefined ? {} : { ca }),
  };
}

/** What the other side of a TLS connection showed; null: nothing that can be read, or no TLS. */
export function certificateOf(socket: Socket): ServerCertificate | null {
  if (!(socket instanceof TLSSocket)) return null;
  const { subject, issuer, valid_to } = socket.getPeerCertificate();
  const until = Date.parse(valid_to ?? '');
  if (Number.isNaN(until)) return null;
  const named = (of: typeof subject | undefined): string => [of?.CN ?? of?.O ?? ''].flat().join(', ').slice(0, 200);
  return { subject: named(subject), issuer: named(issuer), valid_until: new Date(until).toISOString() };
}

/** @throws OutboundError, StaleConnection */
export function exchange(route: Route, request: OutboundRequest, clock: Deadlines): Promise<Exchanged> {
  const secure = route.url.protocol === 'https:';
  const maxBytes = request.maxBytes ?? 65_536;
  return new Promise((resolve, reject) => {
    let stage: Stage = 'connect';
    let call: http.ClientRequest;
    try {
      call = (secure ? https : http).request(optionsOf(request, route));
    } catch (error) {
      // Node refuses a header's characters here, before anything is sent.
      reject(new OutboundError('invalid_url', `the request cannot be sent: ${(error as Error).message}`));
      return;
    }
    let answered = false;
    const fail = (fault: Error): void => {
      call.destroy();
      reject(fault);
    };
    clock.onFault(fail);
    call.on('socket', (socket) => {
      if (call.reusedSocket) {
        stage = 'exchange';
        clock.connected();
        return;
      }
      socket.once('connect', () => {
        stage = secure ? 'tls' : 'exchange';
        if (!secure) clock.connected();
      });
      socket.once('secureConnect', () => {
        stage = 'exchange';
        clock.connected();
      });
    });
    call.on('error', (error: NodeJS.ErrnoException) => {
      const fault = faultOf(error, stage);
      fail(call.reusedSocket && !answered && fault.fault === 'reset' && isGone(error) ? new StaleConnection() : fault);
    });
    call.on('close', () => {
      if (!answered) fail(new OutboundError('reset', 'the connection was closed without an answer'));
    });
    call.on('response', (response) => {
      answered = true;
      const status = response.statusCode ?? 0;
      const from = isPublic(response.socket.remoteAddress ?? '');
      const shown = request.certificate === true && { certificate: certificateOf(response.socket) };
      read(response, maxBytes)
        .then((body) => {
          // What is not read to its end cannot be used again.
          if (!response.complete) call.destroy();
          return resolve({ status, headers: plain(response.headers), public: from, ...shown, ...body });
        })
        .catch((error: NodeJS.ErrnoException) => fail(faultOf(error, 'exchange')));
    });
    call.end(request.body);
  });
}

const isGone = ({ code }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE';

function read(response: http.IncomingMessage, maxBytes: number): Promise<{ body: Buffer; truncated: boolean }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) resolve({ body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: true });
    });
    response.on('end', () => resolve({ body: Buffer.concat(chunks), truncated: false }));
    response.on('error', reject);
    response.on('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
  });
}

function plain(headers: http.IncomingHttpHeaders): Record<string, string> {
  const all: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    all[name] = Array.isArray(value) ? value.join(', ') : (value ?? '');
  }
  return all;
}
