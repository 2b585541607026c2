import { inject, injectable } from '../../kernel/contract/index.js';
import { invalid } from '../../kernel/errors.js';
import type { Json } from '../../ports/store/index.js';
import { DEPS, type ProbesDeps } from './deps.js';
import { getOrigin, type ProbeWithHeaders, type ProbeDoc } from './model/probe.js';
import { parseProbe, validateProbe, toStoredProbe } from './model/probe-schema.js';

const getEncryptionPurpose = (source: string): string => `probes/headers/${source}`;

export type PreparedProbe = Omit<ProbeDoc, 'id' | 'updated_at'> | null;

const validateWebSocketUrl = (url: string, checkUrl: (url: string) => string | null): string | null =>
  /^wss?:\/\//i.test(url) ? checkUrl(url.replace(/^ws/i, 'http')) : 'the URL must start with ws:// or wss://';

@injectable()
export class ProbeService {
  constructor(
    @inject(DEPS)
    private readonly deps: Pick<ProbesDeps, 'probes' | 'cipher' | 'clock' | 'outbound' | 'reach' | 'policy'>,
  ) {}

  find(source: string): Promise<ProbeDoc | null> {
    return this.deps.probes.get(source);
  }

  /** @throws ServiceError validation_failed */
  async prepare(given: unknown, source: string): Promise<PreparedProbe> {
    if (given === null) return null;
    const open = this.validate(given);
    const fault = open.kind === 'icmp' ? await this.deps.reach.findEchoFault() : null;
    if (fault !== null) throw invalid({ 'probe.kind': `icmp cannot be used: ${fault}` });
    const headers = await this.#resolveHeaders(open, source);
    return {
      probe: toStoredProbe(open),
      headers: headers === null ? null : this.deps.cipher.seal(JSON.stringify(headers), getEncryptionPurpose(source)),
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
      headers: JSON.parse(this.deps.cipher.open(headers, getEncryptionPurpose(id))) as Record<string, string>,
    };
  }

  async save(source: string, checked: PreparedProbe): Promise<void> {
    const { probes, clock } = this.deps;
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
    const { outbound, policy, reach } = this.deps;
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
