/** Asks once, as a probe says, and tells what was seen. Never throws because of who was asked. */
import { inject, injectable } from '../../../kernel/contract.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { OutboundError, type EgressPolicy } from '../../../ports/outbound.js';
import { DEPS, type ProbesDeps } from '../deps.js';
import {
  targetOf,
  type DnsProbe,
  type IcmpProbe,
  type OpenProbe,
  type PortProbe,
  type TlsProbe,
} from '../model/probe.js';
import { NOTHING, type ProbeResult } from '../model/seen.js';
import { trustFault } from '../model/trust-fault.js';
import { HttpAsker } from './http-asker.js';

const MOST_RECORDS = 20;
const MAX_MESSAGE = 300;
const PUBLIC_ONLY: EgressPolicy = { mode: 'public-only', allow: [] };

@injectable()
export class Asker {
  constructor(
    @inject(DEPS) private readonly deps: Pick<ProbesDeps, 'reach' | 'policy'>,
    @inject(HttpAsker) private readonly http: HttpAsker,
  ) {}

  async ask(probe: OpenProbe): Promise<ProbeResult> {
    try {
      const seen = await this.#asked(probe);
      return { ...seen, message: cleanText(seen.message.slice(0, MAX_MESSAGE)) };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      const text = (trustFault(error.code) ?? sentence(error)).slice(0, MAX_MESSAGE);
      const unsupported = error.fault === 'unsupported' ? { unsupported: true } : {};
      return { ...NOTHING, ok: false, ...unsupported, message: cleanText(text) };
    }
  }

  #asked(probe: OpenProbe): Promise<ProbeResult> {
    if (probe.kind === 'http') return this.http.ask(probe);
    if (probe.kind === 'dns') return this.#lookup(probe);
    return probe.kind === 'icmp' ? this.#echo(probe) : this.#connect(probe);
  }

  async #connect(probe: PortProbe | TlsProbe): Promise<ProbeResult> {
    const { host, port, timeout_ms: timeoutMs } = probe;
    const tls = probe.kind === 'tls';
    const { policy, reach } = this.deps;
    const { duration_ms, certificate, untrusted } = await reach.connect({
      host: bare(host),
      port,
      tls,
      timeoutMs,
      policy,
    });
    const seen = { ...NOTHING, response_ms: duration_ms, certificate };
    if (untrusted !== null) {
      const message = trustFault(untrusted) ?? `The certificate is not trusted: ${untrusted}`;
      return { ...seen, ok: false, message };
    }
    return { ...seen, ok: true, message: `${targetOf(probe)} answered in ${duration_ms} ms` };
  }

  async #lookup({ host, record_type: type, expected_record, timeout_ms: timeoutMs }: DnsProbe): Promise<ProbeResult> {
    const { records, duration_ms } = await this.deps.reach.lookup({ name: host, type, timeoutMs });
    const shown = records.slice(0, MOST_RECORDS).join(', ');
    const reach = this.deps.reach;
    // A record that names an address of the own network tells of it, as an answer from there would.
    const open = [...records, host].every((text) => reach.judge(text, PUBLIC_ONLY) === null);
    const seen = { ...NOTHING, response_ms: duration_ms, excerpt: shown || null, public: open };
    if (records.length === 0) return { ...seen, ok: false, message: `${host} has no record of type ${type}` };
    if (expected_record !== null && !records.some((record) => record.includes(expected_record))) {
      const bare_message = `No record of ${host} holds ${expected_record}`;
      return { ...seen, ok: false, message: `${bare_message}: ${shown}`, bare_message };
    }
    const bare_message = `${host} has ${records.length === 1 ? 'a record' : `${records.length} records`} of type ${type}`;
    return { ...seen, ok: true, message: `${host}: ${shown}`, bare_message };
  }

  async #echo({ host, timeout_ms: timeoutMs }: IcmpProbe): Promise<ProbeResult> {
    const { reach, policy } = this.deps;
    const { duration_ms } = await reach.echo({ host: bare(host), timeoutMs, policy });
    return { ...NOTHING, response_ms: duration_ms, ok: true, message: `${host} answered in ${duration_ms} ms` };
  }
}

/** With a capital, unless it begins with the name of a host. */
function sentence({ fault, message }: OutboundError): string {
  const isName = fault === 'dns' || !/^[a-z]+ /.test(message);
  return isName ? message : `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
}

const bare = (host: string): string => host.replace(/^\[|\]$/g, '');
