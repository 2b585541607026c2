/**
 * Sends HTTP requests to checked addresses only. Every resolved address must pass the policy, and
 * the connection goes to one of exactly those, because a second lookup could differ (DNS
 * rebinding). TLS and `Host` still use the URL's host. Connections are reused for the same origin
 * at the same checked addresses.
 */
import type { LookupAddress } from 'node:dns';
import { OutboundError, type Outbound, type OutboundRequest, type OutboundResponse } from '../../ports/outbound.js';
import type { EgressPolicy } from '../../ports/outbound.js';
import { BoundedMap } from '../../lib/bounded-map.js';
import { Deadlines } from './deadlines.js';
import { decodeBody } from './decoding.js';
import { judgeAddress, judgeUrl, literalHost, type UrlVerdict } from './egress.js';
import { exchange, StaleConnection, type Exchanged, type Route } from './exchange.js';
import { Names } from './names.js';
import { resolveChecked } from './resolve-checked.js';
import { keptSockets } from './sockets.js';

export interface OutboundOptions {
  /** Resolves a name. Default: hosts file and DNS. */
  resolve?: (hostname: string) => Promise<LookupAddress[]>;
  ca?: string;
}

const REMEMBERED = 1_000;

type Remembered<T extends {}> = WeakMap<EgressPolicy, BoundedMap<T>>;
type Judged = { verdict: URL; literal: LookupAddress | null } | { verdict: UrlVerdict };

export class NodeOutbound implements Outbound {
  private readonly resolve: (hostname: string) => Promise<LookupAddress[]>;
  private readonly sockets = keptSockets();
  private readonly urls: Remembered<Judged> = new WeakMap();
  private readonly verdicts: Remembered<{ reason: string | null }> = new WeakMap();

  constructor(private readonly options: OutboundOptions = {}) {
    const names = new Names();
    this.resolve = options.resolve ?? ((hostname) => names.resolve(hostname));
  }

  judge(url: string, policy: EgressPolicy): string | null {
    const verdict = judgeUrl(url, policy);
    return verdict instanceof URL ? null : verdict.reason;
  }

  async request(request: OutboundRequest): Promise<OutboundResponse> {
    const judged = this.judged(request.url, request.policy);
    if (!('literal' in judged)) throw new OutboundError(judged.verdict.fault, judged.verdict.reason);
    const { verdict: url, literal } = judged;
    const started = performance.now();
    const clock = new Deadlines(request.connectTimeoutMs ?? 5_000, request.timeoutMs ?? 15_000);
    try {
      const addresses = literal === null ? await clock.within(this.addresses(url.hostname, request)) : [literal];
      const route = { url, addresses, ca: this.options.ca, sockets: this.sockets };
      const response = await this.exchange(route, request, clock);
      if (request.decode === true) {
        const work = decoded(response, request.maxBytes);
        // A body truncated by the timeout is still decoded; its size is limited.
        Object.assign(response, await (response.waited_ms === undefined ? clock.within(work) : work));
      }
      return { ...response, duration_ms: Math.round(performance.now() - started) };
    } finally {
      clock.stop();
    }
  }

  private async exchange(route: Route, request: OutboundRequest, clock: Deadlines): Promise<Exchanged> {
    try {
      return await exchange(route, request, clock);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      return exchange({ ...route, sockets: null }, request, clock);
    }
  }

  private judged(text: string, policy: EgressPolicy): Judged {
    return remembered(this.urls, policy, text, () => {
      const verdict = judgeUrl(text, policy);
      if (!(verdict instanceof URL)) return { verdict };
      const host = literalHost(verdict);
      return { verdict, literal: host === null ? null : { address: host, family: host.includes(':') ? 6 : 4 } };
    });
  }

  private addresses(hostname: string, { policy, resolver }: OutboundRequest): Promise<LookupAddress[]> {
    const checked = { host: hostname, policy, ...(resolver !== undefined && { resolver }) };
    return resolveChecked(
      checked,
      this.resolve,
      (address) => remembered(this.verdicts, policy, address, () => ({ reason: judgeAddress(address, policy) })).reason,
    );
  }
}

async function decoded(
  { body, headers, truncated }: Exchanged,
  maxBytes = 65_536,
): Promise<Pick<OutboundResponse, 'body' | 'truncated' | 'undecodable'>> {
  const read = await decodeBody(body, headers['content-encoding'] ?? '', maxBytes);
  return { ...read, truncated: truncated || read.truncated };
}

function remembered<T extends {}>(store: Remembered<T>, policy: EgressPolicy, key: string, make: () => T): T {
  let known = store.get(policy);
  if (known === undefined) store.set(policy, (known = new BoundedMap<T>({ most: REMEMBERED })));
  const found = known.get(key);
  if (found !== undefined) return found;
  const value = make();
  known.set(key, value);
  return value;
}
