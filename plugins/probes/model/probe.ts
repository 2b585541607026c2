/**
 * How a machine is asked (contract 30, probes): as a caller gives it, as it is stored, and as it is shown. Secrets are
 * the values of headers: sealed where they are stored, and never shown again. Pure.
 */
import type { RecordType } from '../../../ports/reach.js';
import type { Doc } from '../../../ports/store.js';

export const KINDS = ['http', 'tcp', 'tls', 'dns', 'icmp'] as const;
export type ProbeKind = (typeof KINDS)[number];

interface Timing {
  interval_seconds: number;
  timeout_ms: number;
  /** Further tries before a failure counts. */
  retries: number;
}

export interface HttpProbe extends Timing {
  kind: 'http';
  url: string;
  method: 'GET' | 'HEAD' | 'POST';
  /** Status codes and ranges: `200-299,401`. */
  expected_status: string;
  /** Text that the answer holds. */
  contains: string | null;
  /** Path of a value in an answer of JSON, `checks[0].state`, and the text that it must be; null: it must be there. */
  json_path: string | null;
  json_value: string | null;
  /** How many are followed. */
  redirects: number;
  /** Fewer days until the certificate expires are a warning; 0: none is given. */
  cert_days_warning: number;
}

export interface PortProbe extends Timing {
  kind: 'tcp';
  host: string;
  port: number;
}

export interface TlsProbe extends Timing {
  kind: 'tls';
  host: string;
  port: number;
  cert_days_warning: number;
}

export interface DnsProbe extends Timing {
  kind: 'dns';
  host: string;
  record_type: RecordType;
  /** Text that one of the records holds; null: there must be one. */
  expected_record: string | null;
}

export interface IcmpProbe extends Timing {
  kind: 'icmp';
  host: string;
}

export type Probe = HttpProbe | PortProbe | TlsProbe | DnsProbe | IcmpProbe;

/** With the values of its headers, for one asking. */
export type OpenProbe = Probe & { headers?: Readonly<Record<string, string>> };

/** Its id is the source of its monitor. */
export interface ProbeDoc extends Doc {
  probe: Probe;
  /** Sealed: JSON of name → value; null: no headers of its own. */
  headers: string | null;
  /** For people. */
  header_names: string[];
  /** Changes with every write: whoever asks finds by it what others wrote. */
  updated_at: string;
}

/** Scheme, host and port that secrets may go to. */
export const originOf = (probe: Probe): string | null => (probe.kind === 'http' ? new URL(probe.url).origin : null);

/** `http https://shop.example/health` */
export const targetOf = (probe: Probe): string => {
  if (probe.kind === 'http') return probe.url;
  if (probe.kind === 'tcp' || probe.kind === 'tls') return `${probe.host}:${probe.port}`;
  return probe.kind === 'dns' ? `${probe.record_type} ${probe.host}` : probe.host;
};
