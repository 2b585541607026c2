/**
 * Every resolved address must pass the policy, and the connection goes to one of exactly those,
 * because a second lookup could differ (DNS rebinding).
 */
import type { LookupAddress } from 'node:dns';
import { OutboundError, type Outbound, type OutboundRequest, type OutboundResponse } from '../../ports/outbound.js';
import type { EgressPolicy } from '../../ports/outbound.js';
import { BoundedMap } from '../../lib/bounded-map.js';
import { Deadlines } from './deadlines.js';
import { decodeBody } from './body-decoder.js';
import { findAddressBlock, checkUrl, parseLiteralHost, type UrlRejection } from './egress.js';
import { sendExchange, StaleConnectionError, type ExchangeResult, type ConnectionRoute } from './http-exchange.js';
import { HostResolver } from './host-resolver.js';
import { resolveChecked } from './resolve-checked.js';
import { createSocketPools } from './socket-pools.js';

export interface OutboundOptions {
  resolve?: (hostname: string) => Promise<LookupAddress[]>;
  ca?: string;
}

const MAX_CACHED_CHECKS = 1_000;

type CheckCache<T extends {}> = WeakMap<EgressPolicy, BoundedMap<T>>;
type UrlCheck = { verdict: URL; literal: LookupAddress | null } | { verdict: UrlRejection };

export class NodeOutbound implements Outbound {
  private readonly resolve: (hostname: string) => Promise<LookupAddress[]>;
  private readonly sockets = createSocketPools();
  private readonly urls: CheckCache<UrlCheck> = new WeakMap();
  private readonly verdicts: CheckCache<{ reason: string | null }> = new WeakMap();

  constructor(private readonly options: OutboundOptions = {}) {
    const names = new HostResolver();
    this.resolve = options.resolve ?? ((hostname) => names.resolve(hostname));
  }

  checkUrl(url: string, policy: EgressPolicy): string | null {
    const verdict = checkUrl(url, policy);
    return verdict instanceof URL ? null : verdict.reason;
  }

  async request(request: OutboundRequest): Promise<OutboundResponse> {
    const checkedUrl = this.checkUrlCached(request.url, request.policy);
    if (!('literal' in checkedUrl)) throw new OutboundError(checkedUrl.verdict.fault, checkedUrl.verdict.reason);
    const { verdict: url, literal } = checkedUrl;
    const started = performance.now();
    const clock = new Deadlines(request.connectTimeoutMs ?? 5_000, request.timeoutMs ?? 15_000);
    try {
      const addresses = literal === null ? await clock.within(this.resolveAddresses(url.hostname, request)) : [literal];
      const route = { url, addresses, ca: this.options.ca, sockets: this.sockets };
      const response = await this.sendWithRetry(route, request, clock);
      if (request.decode === true) {
        const work = decodeResponse(response, request.maxBytes);
        // A truncated body is still decoded.
        Object.assign(response, await (response.waited_ms === undefined ? clock.within(work) : work));
      }
      return { ...response, duration_ms: Math.round(performance.now() - started) };
    } finally {
      clock.stop();
    }
  }

  private async sendWithRetry(
    route: ConnectionRoute,
    request: OutboundRequest,
    clock: Deadlines,
  ): Promise<ExchangeResult> {
    try {
      return await sendExchange(route, request, clock);
    } catch (error) {
      if (!(error instanceof StaleConnectionError)) throw error;
      return sendExchange({ ...route, sockets: null }, request, clock);
    }
  }

  private checkUrlCached(text: string, policy: EgressPolicy): UrlCheck {
    return getOrCompute(this.urls, policy, text, () => {
      const verdict = checkUrl(text, policy);
      if (!(verdict instanceof URL)) return { verdict };
      const host = parseLiteralHost(verdict);
      return { verdict, literal: host === null ? null : { address: host, family: host.includes(':') ? 6 : 4 } };
    });
  }

  private resolveAddresses(hostname: string, { policy, resolver }: OutboundRequest): Promise<LookupAddress[]> {
    const checked = { host: hostname, policy, ...(resolver !== undefined && { resolver }) };
    return resolveChecked(
      checked,
      this.resolve,
      (address) =>
        getOrCompute(this.verdicts, policy, address, () => ({ reason: findAddressBlock(address, policy) })).reason,
    );
  }
}

async function decodeResponse(
  { body, headers, truncated }: ExchangeResult,
  maxBytes = 65_536,
): Promise<Pick<OutboundResponse, 'body' | 'truncated' | 'undecodable'>> {
  const read = await decodeBody(body, headers['content-encoding'] ?? '', maxBytes);
  return { ...read, truncated: truncated || read.truncated };
}

function getOrCompute<T extends {}>(store: CheckCache<T>, policy: EgressPolicy, key: string, make: () => T): T {
  let known = store.get(policy);
  if (known === undefined) store.set(policy, (known = new BoundedMap<T>({ most: MAX_CACHED_CHECKS })));
  const found = known.get(key);
  if (found !== undefined) return found;
  const value = make();
  known.set(key, value);
  return value;
}
