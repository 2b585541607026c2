/**
 * How a machine is asked (contract 30, probes): as a caller gives it, as it is stored, and as it is shown. Secrets are
 * the values of headers: sealed where they are stored, and never shown again. Pure.
 */
import type { OutboundMethod } from '../../../ports/outbound.js';
import { DATABASE_KINDS, type DatabaseKind, type RecordType, type StartTls } from '../../../ports/reach.js';
import type { Doc } from '../../../ports/store.js';

export const KINDS = ['http', 'tcp', 'tls', 'dns', 'icmp', 'websocket', 'grpc', ...DATABASE_KINDS] as const;
export type ProbeKind = (typeof KINDS)[number];

/** What every kind has. */
interface Common {
  interval_seconds: number;
  timeout_ms: number;
  /** Further tries before a failure counts. */
  retries: number;
  /** An answer as it should be is the failure. */
  inverted: boolean;
  /** DNS server, `address` or `address:port`. Null for the system's. */
  resolver: string | null;
}

/** Of kinds that know TLS. */
interface Tls {
  /** A certificate authority that is trusted in addition to the usual ones, PEM. */
  ca_pem: string | null;
  /** Any certificate will do. */
  insecure: boolean;
  /** Fewer days until the certificate expires are a warning; 0: none is given. */
  cert_days_warning: number;
}

export interface HttpProbe extends Common, Tls {
  kind: 'http';
  url: string;
  method: OutboundMethod;
  body: string | null;
  /** Status codes and ranges: `200-299,401`. */
  expected_status: string;
  /** Text that the answer holds. */
  contains: string | null;
  /** Text that it must not hold. */
  keyword_absent: string | null;
  /** Path of a value in an answer of JSON, `checks[0].state`, and the text that it must be; null: it must be there. */
  json_path: string | null;
  json_value: string | null;
  /** How many are followed. */
  redirects: number;
}

export interface PortProbe extends Common {
  kind: 'tcp';
  host: string;
  port: number;
}

export interface TlsProbe extends Common, Tls {
  kind: 'tls';
  host: string;
  port: number;
  /** The protocol that goes over to TLS; null: TLS from the beginning. */
  starttls: StartTls | null;
}

/** A WebSocket that is opened and closed again. */
export interface SocketProbe extends Common, Tls {
  kind: 'websocket';
  url: string;
}

/** The health check of gRPC. */
export interface GrpcProbe extends Common, Tls {
  kind: 'grpc';
  host: string;
  port: number;
  tls: boolean;
  /** Empty: the server as a whole. */
  service: string;
}

export interface DatabaseProbe extends Common, Tls {
  kind: DatabaseKind;
  host: string;
  port: number;
  tls: boolean;
}

export interface DnsProbe extends Common {
  kind: 'dns';
  host: string;
  record_type: RecordType;
  /** Records that there must be (dns-records.ts); null: there must be one. */
  expected_record: string | null;
}

export interface IcmpProbe extends Common {
  kind: 'icmp';
  host: string;
}

export type Probe = HttpProbe | PortProbe | TlsProbe | DnsProbe | IcmpProbe | SocketProbe | GrpcProbe | DatabaseProbe;

/** With the values of its headers, for one asking. */
export type OpenProbe = Probe & { headers?: Readonly<Record<string, string>> };

/** Its id is the source of its monitor. */
export interface ProbeDoc extends Doc {
  probe: Probe;
  /** Sealed: JSON of name → value; null: no headers of its own. */
  headers: string | null;
  /** For people. */
  header_names: string[];
  /** Changes with every write, so that the scheduler detects changes of other processes. */
  updated_at: string;
}

/** Scheme, host and port that secrets may go to. */
export const getOrigin = (probe: Probe): string | null =>
  'url' in probe ? new URL(probe.url.replace(/^ws/i, 'http')).origin : null;

/** `http https://shop.example/health` */
export const getTarget = (probe: Probe): string => {
  if ('url' in probe) return probe.url;
  if ('port' in probe) return `${probe.host}:${probe.port}`;
  return probe.kind === 'dns' ? `${probe.record_type} ${probe.host}` : probe.host;
};
