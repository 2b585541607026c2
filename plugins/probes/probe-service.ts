import { inject, injectable } from '../../kernel/contract/index.js';
import { invalid } from '../../kernel/errors.js';
import type { Json, Collection } from '../../ports/store/index.js';
import { DEPS } from './deps.js';
import { getOrigin, type ProbeWithHeaders, type ProbeDoc } from './model/probe.js';
import { parseProbe, validateProbe, toStoredProbe } from './model/probe-schema.js';
import type { NetworkProbe } from '../../ports/network-probe.js';
import type { Outbound, EgressPolicy } from '../../ports/outbound.js';
import type { Clock } from '../../ports/clock.js';
import type { Cipher } from '../../ports/cipher.js';

const getEncryptionPurpose = (source: string): string => `probes/headers/${source}`;

export type PreparedProbe = Omit<ProbeDoc, 'id' | 'updated_at'> | null;

const validateWebSocketUrl = (url: string, checkUrl: (url: string) => string | null): string | null =>
  /^wss?:\/\//i.test(url) ? checkUrl(url.replace(/^ws/i, 'http')) : 'the URL must start with ws:// or wss://';

@injectable()
export class ProbeService {
  constructor(
    @inject(DEPS.probes) private readonly probes: Collection<ProbeDoc>,
    @inject(DEPS.cipher) private readonly cipher: Cipher,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.outbound) private readonly outbound: Pick<Outbound, 'request' | 'checkUrl'>,
    @inject(DEPS.reach) private readonly reach: NetworkProbe,
    @inject(DEPS.policy) private readonly policy: EgressPolicy,
  ) {}

  find(source: string): Promise<ProbeDoc | null> {
    return this.probes.get(source);
  }

  /** @throws ServiceError validation_failed */
  async prepare(given: unknown, source: string): Promise<PreparedProbe> {
    if (given === null) return null;
    const open = this.validate(given);
    const fault = open.kind === 'icmp' ? await this.reach.findEchoFault() : null;
    if (fault !== null) throw invalid({ 'probe.kind': `icmp cannot be used: ${fault}` });
    const headers = await this.#resolveHeaders(open, source);
    return {
      probe: toStoredProbe(open),
      headers: headers === null ? null : this.cipher.seal(JSON.stringify(headers), getEncryptionPurpose(source)),
      header_names: Object.keys(headers ?? {}),
    };
  }

  /**
   * Uses given or stored headers.
   * @throws ServiceError validation_failed
   */
  async toRunnableProbe(given: unknown, source: string | null): Promise<ProbeWithHeaders> {
    const open = this.validate(given);
    const headers = source === null ? (open.headers ?? null) : await this.#resolveHeaders(open, source);
    return { ...open, ...(headers !== null && { headers }) };
  }

  async findWithSecrets(source: string): Promise<Record<string, unknown> | null> {
    const doc = await this.find(source);
    return doc && { ...this.decrypt(doc) };
  }

  decrypt({ id, probe, headers }: ProbeDoc): ProbeWithHeaders {
    const whole = parseProbe(probe);
    if (headers === null) return whole;
    return {
      ...whole,
      headers: JSON.parse(this.cipher.open(headers, getEncryptionPurpose(id))) as Record<string, string>,
    };
  }

  async save(source: string, checked: PreparedProbe): Promise<void> {
    const { probes, clock } = this;
    if (checked === null) await probes.remove({ id: source });
    else {
      const set = { ...checked, updated_at: clock.iso() } as unknown as Record<string, Json>;
      await probes.change({ id: source }, { set }, { upsert: true });
    }
  }

  async getView(source: string): Promise<Record<string, Json> | null> {
    const doc = await this.find(source);
    if (doc === null) return null;
    const { probe, header_names } = doc;
    return { ...parseProbe(probe), ...('url' in probe && { header_names }) };
  }

  /** @throws ServiceError validation_failed */
  validate(given: unknown): ProbeWithHeaders {
    const open = validateProbe(given);
    const { outbound, policy, reach } = this;
    const faults: Record<string, string | null> = {
      ...('host' in open && { host: reach.checkHost(open.host, policy) }),
      ...(open.kind === 'http' && { url: outbound.checkUrl(open.url, policy) }),
      ...(open.kind === 'websocket' && {
        url: validateWebSocketUrl(open.url, (url) => outbound.checkUrl(url, policy)),
      }),
      resolver: open.resolver === null ? null : reach.checkResolver(open.resolver, policy),
      ca_pem: !('ca_pem' in open) || open.ca_pem === null ? null : reach.findAuthorityFault(open.ca_pem),
    };
    for (const [field, reason] of Object.entries(faults))
      if (reason !== null) throw invalid({ [`probe.${field}`]: reason });
    return open;
  }

  /** A changed address never sends stored secrets to another host. */
  async #resolveHeaders(open: ProbeWithHeaders, source: string): Promise<Readonly<Record<string, string>> | null> {
    if (!('url' in open)) return null;
    const { headers } = open;
    if (headers !== undefined) return headers === null || Object.keys(headers).length === 0 ? null : headers;
    const before = await this.find(source);
    if (before === null || getOrigin(before.probe) !== getOrigin(open)) return null;
    return this.decrypt(before).headers ?? null;
  }
}
