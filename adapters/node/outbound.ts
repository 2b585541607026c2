/**
 * HTTP to other machines (ports/outbound.ts): one connection per request, to an address that was checked.
 *
 * The name is resolved once; every address must pass the policy, and the connection goes to one of exactly those (a
 * second look-up could answer differently: DNS rebinding). The URL's host stays what TLS verifies and `Host` names.
 * Rejected: `fetch`, which resolves by itself, follows redirects and pools connections past the check.
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { OutboundError, type Outbound, type OutboundRequest, type OutboundResponse } from '../../ports/outbound.js';
import type { EgressPolicy } from '../../ports/outbound.js';
import { judgeAddress, judgeUrl, literalHost } from './egress.js';

export interface OutboundOptions {
  /** All addresses of a name. Default: the system's resolver. */
  resolve?: (hostname: string) => Promise<LookupAddress[]>;
  /** Further certificate authorities, PEM. */
  ca?: string;
}

const OURS = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'expect']);
const TLS_CODE = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

const resolveAll = (hostname: string): Promise<LookupAddress[]> =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true, verbatim: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses),
    );
  });

/** Answers node's look-up with the checked addresses, whatever it asks for. */
const pinned =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };

type Stage = 'connect' | 'tls' | 'exchange';

function faultOf(error: NodeJS.ErrnoException, stage: Stage): OutboundError {
  const code = error.code ?? '';
  if (TLS_CODE.test(code)) return new OutboundError('tls', `TLS failed: ${code}`);
  if (stage === 'connect') return new OutboundError('connect', `no connection: ${code || error.message}`);
  if (code.startsWith('HPE_')) return new OutboundError('reset', `the answer is not HTTP: ${code}`);
  if (stage === 'tls' && code !== 'ECONNRESET') return new OutboundError('tls', `TLS failed: ${code || error.message}`);
  return new OutboundError('reset', 'the connection was closed before the answer was complete');
}

export class NodeOutbound implements Outbound {
  private readonly resolve: (hostname: string) => Promise<LookupAddress[]>;

  constructor(private readonly options: OutboundOptions = {}) {
    this.resolve = options.resolve ?? resolveAll;
  }

  judge(url: string, policy: EgressPolicy): string | null {
    const verdict = judgeUrl(url, policy);
    return verdict instanceof URL ? null : verdict.reason;
  }

  async request(request: OutboundRequest): Promise<OutboundResponse> {
    const verdict = judgeUrl(request.url, request.policy);
    if (!(verdict instanceof URL)) throw new OutboundError(verdict.fault, verdict.reason);
    const started = performance.now();
    const clock = new Deadlines(request.connectTimeoutMs ?? 5_000, request.timeoutMs ?? 15_000);
    try {
      const addresses = await clock.within(this.addresses(verdict, request.policy));
      const response = await exchange(verdict, addresses, request, clock, this.options.ca);
      return { ...response, duration_ms: Math.round(performance.now() - started) };
    } finally {
      clock.stop();
    }
  }

  private async addresses(url: URL, policy: EgressPolicy): Promise<LookupAddress[]> {
    const literal = literalHost(url);
    if (literal !== null) return [{ address: literal, family: literal.includes(':') ? 6 : 4 }];
    let found: LookupAddress[];
    try {
      found = await this.resolve(url.hostname);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      throw new OutboundError('dns', `${url.hostname} cannot be resolved: ${code}`);
    }
    if (found.length === 0) throw new OutboundError('dns', `${url.hostname} has no address`);
    for (const { address } of found) {
      const reason = judgeAddress(address, policy);
      if (reason !== null) throw new OutboundError('blocked', `${url.hostname}: ${reason}`);
    }
    return found;
  }
}

/** The two time limits of one request; `onFault` is told which one ran out. */
class Deadlines {
  private readonly connect: NodeJS.Timeout;
  private readonly total: NodeJS.Timeout;
  private fault: OutboundError | null = null;
  private readonly listeners: ((fault: OutboundError) => void)[] = [];

  constructor(connectMs: number, totalMs: number) {
    this.connect = setTimeout(() => this.expire(`no connection within ${connectMs} ms`), connectMs);
    this.total = setTimeout(() => this.expire(`no complete answer within ${totalMs} ms`), totalMs);
  }

  private expire(message: string): void {
    this.fault ??= new OutboundError('timeout', message);
    for (const listener of this.listeners) listener(this.fault);
  }

  onFault(listener: (fault: OutboundError) => void): void {
    if (this.fault) listener(this.fault);
    else this.listeners.push(listener);
  }

  within<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.onFault(reject);
      work.then(resolve, reject);
    });
  }

  connected(): void {
    clearTimeout(this.connect);
  }

  stop(): void {
    clearTimeout(this.connect);
    clearTimeout(this.total);
  }
}

function headersOf(request: OutboundRequest): Record<string, string | number> {
  const own = Object.entries(request.headers ?? {}).filter(([name]) => !OURS.has(name.toLowerCase()));
  const length = request.body === undefined ? (request.method === 'POST' ? 0 : null) : Buffer.byteLength(request.body);
  return {
    'accept-encoding': 'identity',
    ...Object.fromEntries(own),
    ...(length === null ? {} : { 'content-length': length }),
  };
}

function exchange(
  url: URL,
  addresses: readonly LookupAddress[],
  request: OutboundRequest,
  clock: Deadlines,
  ca: string | undefined,
): Promise<Omit<OutboundResponse, 'duration_ms'>> {
  const secure = url.protocol === 'https:';
  const maxBytes = request.maxBytes ?? 65_536;
  return new Promise((resolve, reject) => {
    let stage: Stage = 'connect';
    const options: https.RequestOptions = {
      method: request.method,
      agent: false,
      lookup: pinned(addresses),
      rejectUnauthorized: true,
      headers: headersOf(request),
      ...(ca === undefined ? {} : { ca }),
    };
    let call: http.ClientRequest;
    try {
      call = (secure ? https : http).request(url, options);
    } catch (error) {
      // Node refuses a header's characters here, before anything is sent.
      reject(new OutboundError('invalid_url', `the request cannot be sent: ${(error as Error).message}`));
      return;
    }
    const fail = (fault: OutboundError): void => {
      call.destroy();
      reject(fault);
    };
    clock.onFault(fail);
    call.on('socket', (socket) => {
      socket.once('connect', () => {
        stage = secure ? 'tls' : 'exchange';
        if (!secure) clock.connected();
      });
      socket.once('secureConnect', () => {
        stage = 'exchange';
        clock.connected();
      });
    });
    call.on('error', (error) => fail(faultOf(error, stage)));
    call.on('close', () => fail(new OutboundError('reset', 'the connection was closed without an answer')));
    call.on('response', (response) => {
      const status = response.statusCode ?? 0;
      read(response, maxBytes)
        .then((body) => resolve({ status, headers: plain(response.headers), ...body }))
        .catch((error: NodeJS.ErrnoException) => reject(faultOf(error, 'exchange')))
        .finally(() => call.destroy());
    });
    call.end(request.body);
  });
}

async function read(response: http.IncomingMessage, maxBytes: number): Promise<{ body: Buffer; truncated: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) return { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: true };
  }
  return { body: Buffer.concat(chunks), truncated: false };
}

const plain = (headers: http.IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
