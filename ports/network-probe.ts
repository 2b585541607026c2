/** Probes ports, TLS, DNS and hosts under the egress policy (contract 70, delivery, egress). */
import type { EgressPolicy, ServerCertificate, TlsTrust } from './outbound.js';

export const START_TLS_PROTOCOLS = ['smtp', 'imap', 'pop3', 'ldap'] as const;
export type StartTlsProtocol = (typeof START_TLS_PROTOCOLS)[number];

export const DATABASE_KINDS = ['postgresql', 'mysql', 'redis', 'mongodb'] as const;
export type DatabaseKind = (typeof DATABASE_KINDS)[number];

/** Handshake that verifies the protocol of the server. */
export type ProtocolProbe =
  | { kind: DatabaseKind }
  /** @property service empty: the whole server */
  | { kind: 'grpc'; service: string }
  | { kind: 'websocket'; url: URL; host: string; headers: Readonly<Record<string, string>> };

export interface ConnectRequest {
  /** Name or address. */
  host: string;
  port: number;
  /** For `tlsHost`, or this host. */
  tls?: boolean;
  tlsHost?: string;
  trust?: TlsTrust;
  starttls?: StartTlsProtocol;
  /** Unless the certificate is untrusted. */
  dialogue?: ProtocolProbe;
  /** DNS server, `address` or `address:port`. */
  resolver?: string;
  /** Milliseconds in total; default 10,000. */
  timeoutMs?: number;
  policy: EgressPolicy;
}

export interface ConnectResult {
  address: string;
  duration_ms: number;
  certificate: ServerCertificate | null;
  /** Null when it is trusted, or there was no handshake. */
  untrusted: string | null;
  said: string | null;
  /** The address is globally reachable. */
  public: boolean;
}

export const RECORD_TYPES = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

export interface LookupRequest {
  name: string;
  type: RecordType;
  /** DNS server, `address` or `address:port`. */
  resolver?: string;
  policy: EgressPolicy;
  /** Milliseconds; default 10,000. */
  timeoutMs?: number;
}

export interface EchoRequest {
  host: string;
  /** DNS server, `address` or `address:port`. */
  resolver?: string;
  /** Milliseconds; default 10,000. */
  timeoutMs?: number;
  policy: EgressPolicy;
}

export interface NetworkProbe {
  /** Null when it is allowed, or a name. */
  checkHost(host: string, policy: EgressPolicy): string | null;
  /** @param server `address` or `address:port` */
  checkResolver(server: string, policy: EgressPolicy): string | null;
  /** @param pem one or more certificates */
  findAuthorityFault(pem: string): string | null;
  /** @throws OutboundError */
  connect(request: ConnectRequest): Promise<ConnectResult>;
  /**
   * Returns each record as text.
   * @throws OutboundError `dns`, `timeout`
   */
  lookup(request: LookupRequest): Promise<{ records: string[]; duration_ms: number }>;
  /**
   * One ICMP echo.
   * @throws OutboundError `timeout`: no response; `unsupported`: not permitted on this system;
   *   `connect`: unreachable
   */
  sendEcho(request: EchoRequest): Promise<{ address: string; duration_ms: number }>;
  /** Null when this system can send ICMP echoes. */
  findEchoFault(): Promise<string | null>;
}
