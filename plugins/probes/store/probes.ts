import { inject, injectable } from '../../../kernel/contract.js';
import { invalid } from '../../../kernel/errors.js';
import type { Json } from '../../../ports/store.js';
import { DEPS, type ProbesDeps } from '../deps.js';
import { getOrigin, type OpenProbe, type ProbeDoc } from '../model/probe.js';
import { parseProbe, toProbe, toStoredProbe } from '../model/schema.js';

const getSealPurpose = (source: string): string => `probes/headers/${source}`;

export type CheckedProbe = Omit<ProbeDoc, 'id' | 'updated_at'> | null;

const findSocketFault = (url: string, checkUrl: (url: string) => string | null): string | null =>
  /^wss?:\/\//i.test(url) ? checkUrl(url.replace(/^ws/i, 'http')) : 'the URL must begin with ws:// or wss://';

@injectable()
export class Probes {
  constructor(
    @inject(DEPS)
    private readonly deps: Pick<ProbesDeps, 'probes' | 'cipher' | 'clock' | 'outbound' | 'reach' | 'policy'>,
  ) {}

  find(source: string): Promise<ProbeDoc | null> {
    return this.deps.probes.get(source);
  }

  /** @throws ServiceError validation_failed */
  async check(given: unknown, source: string): Promise<CheckedProbe> {
    if (given === null) return null;
    const open = this.checkProbe(given);
    const fault = open.kind === 'icmp' ? await this.deps.reach.echoFault() : null;
    if (fault !== null) throw invalid({ 'probe.kind': `icmp cannot be used: ${fault}` });
    const headers = await this.#openHeaders(open, source);
    return {
      probe: toStoredProbe(open),
      headers: headers === null ? null : this.deps.cipher.seal(JSON.stringify(headers), getSealPurpose(source)),
      header_names: Object.keys(headers ?? {}),
    };
  }

  /**
   * Returns the probe with given or stored headers.
   * @throws ServiceError validation_failed
   */
  async openProbe(given: unknown, source: string | null): Promise<OpenProbe> {
    const open = this.checkProbe(given);
    const headers = source === null ? (open.headers ?? null) : await this.#openHeaders(open, source);
    return { ...open, ...(headers !== null && { headers }) };
  }

  open({ id, probe, headers }: ProbeDoc): OpenProbe {
    const whole = parseProbe(probe);
    if (headers === null) return whole;
    return {
      ...whole,
      headers: JSON.parse(this.deps.cipher.open(headers, getSealPurpose(id))) as Record<string, string>,
    };
  }

  async save(source: string, checked: CheckedProbe): Promise<void> {
    const { probes, clock } = this.deps;
    if (checked === null) await probes.remove({ id: source });
    else {
      const set = { ...checked, updated_at: clock.iso() } as unknown as Record<string, Json>;
      await probes.change({ id: source }, { set }, { upsert: true });
    }
  }

  async view(source: string): Promise<Record<string, Json> | null> {
    const doc = await this.find(source);
    if (doc === null) return null;
    const { probe, header_names } = doc;
    return { ...parseProbe(probe), ...('url' in probe && { header_names }) };
  }

  /** @throws ServiceError validation_failed */
  checkProbe(given: unknown): OpenProbe {
    const open = toProbe(given);
    const { outbound, policy, reach } = this.deps;
    const faults: Record<string, string | null> = {
      ...('host' in open && { host: reach.judge(open.host, policy) }),
      ...(open.kind === 'http' && { url: outbound.judge(open.url, policy) }),
      ...(open.kind === 'websocket' && { url: findSocketFault(open.url, (url) => outbound.judge(url, policy)) }),
      resolver: open.resolver === null ? null : reach.judgeResolver(open.resolver, policy),
      ca_pem: !('ca_pem' in open) || open.ca_pem === null ? null : reach.findAuthorityFault(open.ca_pem),
    };
    for (const [field, reason] of Object.entries(faults))
      if (reason !== null) throw invalid({ [`probe.${field}`]: reason });
    return open;
  }

  /** Returns the headers, or null. A changed address never sends stored secrets to another host. */
  async #openHeaders(open: OpenProbe, source: string): Promise<Readonly<Record<string, string>> | null> {
    if (!('url' in open)) return null;
    const { headers } = open;
    if (headers !== undefined) return headers === null || Object.keys(headers).length === 0 ? null : headers;
    const before = await this.find(source);
    if (before === null || getOrigin(before.probe) !== getOrigin(open)) return null;
    return this.open(before).headers ?? null;
  }
}
