import { inject, injectable } from '../../../kernel/contract/index.js';
import { parseHostHeader, stripBrackets } from '../../../lib/host.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { OutboundError, type EgressPolicy, type OutboundFault, type TlsTrust } from '../../../ports/outbound.js';
import { DEPS } from '../deps.js';
import type { ProtocolProbe, NetworkProbe } from '../../../ports/network-probe.js';
import { matchRecords } from '../model/dns-records.js';
import { parseReverseName } from '../model/reverse-name.js';
import {
  formatTarget,
  type DatabaseProbe,
  type DnsProbe,
  type GrpcProbe,
  type IcmpProbe,
  type ProbeWithHeaders,
  type PortProbe,
  type TlsProbe,
} from '../model/probe.js';
import { invertResult, EMPTY_RESULT, type ProbeResult } from '../model/probe-result.js';
import { describeCertificateError } from '../model/certificate-error.js';
import { HttpProbeRunner } from './http-probe-runner.js';

const MAX_SHOWN_RECORDS = 20;
const MAX_MESSAGE_CHARACTERS = 300;
const PUBLIC_ONLY_POLICY: EgressPolicy = { mode: 'public-only', allow: [] };

@injectable()
export class ProbeRunner {
  constructor(
    @inject(DEPS.reach) private readonly reach: NetworkProbe,
    @inject(DEPS.policy) private readonly policy: EgressPolicy,
    @inject(HttpProbeRunner) private readonly http: HttpProbeRunner,
  ) {}

  async run(probe: ProbeWithHeaders): Promise<ProbeResult> {
    const seen = await this.#runSafely(probe);
    const result = probe.inverted ? invertResult(seen) : seen;
    const { resolver } = probe;
    const isPublic = seen.public && (resolver === null || this.#isPublicResolver(resolver));
    return { ...result, public: isPublic, message: cleanText(result.message.slice(0, MAX_MESSAGE_CHARACTERS)) };
  }

  /** Records of an internal DNS server are internal too. */
  #isPublicResolver(resolver: string): boolean {
    return this.reach.checkResolver(resolver, PUBLIC_ONLY_POLICY) === null;
  }

  async #runSafely(probe: ProbeWithHeaders): Promise<ProbeResult> {
    try {
      return await this.#dispatch(probe);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      const { fault } = error;
      const message = describeCertificateError(error.code) ?? capitalize(fault, error.message);
      const unknown = {
        ...(fault === 'unsupported' && { unsupported: true }),
        ...(fault === 'blocked' && { blocked: true }),
      };
      const bare_message = removeInternalDetails(probe, error);
      return { ...EMPTY_RESULT, ok: false, ...unknown, message, ...(bare_message !== null && { bare_message }) };
    }
  }

  #dispatch(probe: ProbeWithHeaders): Promise<ProbeResult> {
    if (probe.kind === 'http') return this.http.run(probe);
    if (probe.kind === 'dns') return this.#runDns(probe);
    if (probe.kind === 'icmp') return this.#runIcmp(probe);
    if (probe.kind === 'websocket') return this.#runWebSocket(probe);
    return this.#runConnect(probe, probe.host, probe.port, getDialogue(probe));
  }

  #runWebSocket(probe: ProbeWithHeaders & { kind: 'websocket' }): Promise<ProbeResult> {
    const url = new URL(probe.url);
    const isSecure = url.protocol === 'wss:';
    const named = Object.entries(probe.headers ?? {}).find(([name]) => name.toLowerCase() === 'host')?.[1];
    const dialogue: ProtocolProbe = { kind: 'websocket', url, host: named ?? url.host, headers: probe.headers ?? {} };
    const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
    const tlsHost = named === undefined ? {} : { tlsHost: parseHostHeader(named) };
    return this.#runConnect({ ...probe, tls: isSecure, ...tlsHost }, url.hostname, port, dialogue);
  }

  async #runConnect(
    probe: (
      PortProbe | TlsProbe | GrpcProbe | DatabaseProbe | (ProbeWithHeaders & { kind: 'websocket'; tls: boolean })
    ) & {
      tlsHost?: string;
    },
    host: string,
    port: number,
    dialogue: ProtocolProbe | undefined,
  ): Promise<ProbeResult> {
    const { policy, reach } = this;
    const trust: TlsTrust =
      probe.kind === 'tcp' ? {} : { insecure: probe.insecure, ...(probe.ca_pem !== null && { ca: probe.ca_pem }) };
    const {
      duration_ms,
      certificate,
      untrusted,
      said: serverMessage,
      ...seenBy
    } = await reach.connect({
      host: stripBrackets(host),
      port,
      tls: probe.kind === 'tls' || ('tls' in probe && probe.tls),
      trust,
      timeoutMs: probe.timeout_ms,
      policy,
      ...(probe.kind === 'tls' && probe.starttls !== null && { starttls: probe.starttls }),
      ...(probe.tlsHost !== undefined && { tlsHost: probe.tlsHost }),
      ...(dialogue !== undefined && { dialogue }),
      ...(probe.resolver !== null && { resolver: probe.resolver }),
    });
    const seen = { ...EMPTY_RESULT, response_ms: duration_ms, certificate, public: seenBy.public };
    if (untrusted !== null && trust.insecure !== true) {
      const message = describeCertificateError(untrusted) ?? `The certificate is not trusted: ${untrusted}`;
      return { ...seen, ok: false, message };
    }
    const bare_message = `${formatTarget(probe)} responded in ${duration_ms} ms`;
    return {
      ...seen,
      ok: true,
      message: serverMessage === null ? bare_message : `${bare_message}: ${serverMessage}`,
      bare_message,
    };
  }

  async #runDns(probe: DnsProbe): Promise<ProbeResult> {
    const { host, record_type: type, expected_record, resolver, timeout_ms: timeoutMs } = probe;
    const { reach, policy } = this;
    const lookupRequest = { name: host, type, timeoutMs, policy, ...(resolver !== null && { resolver }) };
    const { records, duration_ms } = await reach.lookup(lookupRequest);
    const shown = records.slice(0, MAX_SHOWN_RECORDS).join(', ');
    const isShown = this.#isPublicAnswer(probe, records);
    const seen = { ...EMPTY_RESULT, response_ms: duration_ms, excerpt: shown || null, public: isShown };
    if (records.length === 0) return { ...seen, ok: false, message: `${host} has no record of type ${type}` };
    if (expected_record !== null && !matchRecords(type, records, expected_record)) {
      const says = type === 'TXT' ? 'No record' : 'The records';
      const bare_message = `${says} of ${host} ${type === 'TXT' ? 'contains' : 'are not'} ${expected_record}`;
      return { ...seen, ok: false, message: `${bare_message}: ${shown}`, bare_message };
    }
    const bare_message = `${host} has ${records.length === 1 ? 'a record' : `${records.length} records`} of type ${type}`;
    return { ...seen, ok: true, message: `${host}: ${shown}`, bare_message };
  }

  /**
   * Public addresses are public anywhere. Other records only from a public DNS server: the system's
   * may know an internal zone.
   */
  #isPublicAnswer({ host, record_type, resolver }: DnsProbe, records: readonly string[]): boolean {
    const isAddress = record_type === 'A' || record_type === 'AAAA';
    if (!isAddress && (resolver === null || !this.#isPublicResolver(resolver))) return false;
    return [...records, parseReverseName(host) ?? host].every(
      (text) => this.reach.checkHost(text, PUBLIC_ONLY_POLICY) === null,
    );
  }

  async #runIcmp({ host, resolver, timeout_ms: timeoutMs }: IcmpProbe): Promise<ProbeResult> {
    const { reach, policy } = this;
    const echoRequest = { host: stripBrackets(host), timeoutMs, policy, ...(resolver !== null && { resolver }) };
    const { duration_ms } = await reach.sendEcho(echoRequest);
    return { ...EMPTY_RESULT, response_ms: duration_ms, ok: true, message: `${host} responded in ${duration_ms} ms` };
  }
}

function getDialogue(probe: PortProbe | TlsProbe | GrpcProbe | DatabaseProbe): ProtocolProbe | undefined {
  if (probe.kind === 'tcp' || probe.kind === 'tls') return undefined;
  return probe.kind === 'grpc' ? { kind: 'grpc', service: probe.service } : { kind: probe.kind };
}

function capitalize(fault: OutboundFault, message: string): string {
  const isName = fault === 'dns' || !/^[a-z]+ /.test(message) || message.startsWith('gRPC ');
  return isName ? message : `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
}

/** Removes received text too; null when the message has neither. */
function removeInternalDetails(probe: ProbeWithHeaders, error: OutboundError): string | null {
  const { fault, bareMessage } = error;
  const message = capitalize(fault, bareMessage);
  if (fault === 'blocked') return message;
  // A redirect may name a host that the probe does not name.
  const host = 'url' in probe ? new URL(probe.url).hostname : probe.host;
  if (fault === 'dns' && !message.startsWith(`${host} `)) return message.replace(/^\S+/, 'The name');
  // The peer's text follows a colon.
  return fault === 'protocol' ? message.replace(/:.*/s, '') : null;
}
