/**
 * As given, stored and shown (contract 30, probes). Header values are secrets: stored encrypted and
 * never shown again.
 */
import type { OutboundMethod } from '../../../ports/outbound.js';
import {
  DATABASE_KINDS,
  type DatabaseKind,
  type RecordType,
  type StartTlsProtocol,
} from '../../../ports/network-probe.js';
import type { Doc } from '../../../ports/store/index.js';

export const PROBE_KINDS = ['http', 'tcp', 'tls', 'dns', 'icmp', 'websocket', 'grpc', ...DATABASE_KINDS] as const;
export type ProbeKind = (typeof PROBE_KINDS)[number];

interface CommonFields {
  interval_seconds: number;
  timeout_ms: number;
  retries: number;
  /** A successful response counts as the failure. */
  inverted: boolean;
  resolver: string | null;
}

interface TlsFields {
  ca_pem: string | null;
  insecure: boolean;
  cert_days_warning: number;
}

export interface HttpProbe extends CommonFields, TlsFields {
  kind: 'http';
  url: string;
  method: OutboundMethod;
  body: string | null;
  expected_status: string;
  contains: string | null;
  keyword_absent: string | null;
  /** `checks[0].state` and its expected text; null means it must exist. */
  json_path: string | null;
  json_value: string | null;
  redirects: number;
}

export interface PortProbe extends CommonFields {
  kind: 'tcp';
  host: string;
  port: number;
}

export interface TlsProbe extends CommonFields, TlsFields {
  kind: 'tls';
  host: string;
  port: number;
  starttls: StartTlsProtocol | null;
}

export interface WebSocketProbe extends CommonFields, TlsFields {
  kind: 'websocket';
  url: string;
}

export interface GrpcProbe extends CommonFields, TlsFields {
  kind: 'grpc';
  host: string;
  port: number;
  tls: boolean;
  /** Empty for the whole server. */
  service: string;
}

export interface DatabaseProbe extends CommonFields, TlsFields {
  kind: DatabaseKind;
  host: string;
  port: number;
  tls: boolean;
}

export interface DnsProbe extends CommonFields {
  kind: 'dns';
  host: string;
  record_type: RecordType;
  /** See dns-records.ts; null when any record is sufficient. */
  expected_record: string | null;
}

export interface IcmpProbe extends CommonFields {
  kind: 'icmp';
  host: string;
}

export type Probe =
  HttpProbe | PortProbe | TlsProbe | DnsProbe | IcmpProbe | WebSocketProbe | GrpcProbe | DatabaseProbe;

export type ProbeWithHeaders = Probe & { headers?: Readonly<Record<string, string>> };

/** Its id is the source of its monitor. */
export interface ProbeDoc extends Doc {
  probe: Probe;
  /** Encrypted JSON of name → value; null without custom headers. */
  headers: string | null;
  header_names: string[];
  /** The scheduler detects changes of other processes by it. */
  updated_at: string;
}

/** Secrets may be sent only there. */
export const getOrigin = (probe: Probe): string | null =>
  'url' in probe ? new URL(probe.url.replace(/^ws/i, 'http')).origin : null;

export const formatTarget = (probe: Probe): string => {
  if ('url' in probe) return probe.url;
  if ('port' in probe) return `${probe.host}:${probe.port}`;
  return probe.kind === 'dns' ? `${probe.record_type} ${probe.host}` : probe.host;
};
