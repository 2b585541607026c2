/**
 * Probes ports, TLS, DNS and hosts under the egress policy (contract 70, delivery, egress): every
 * resolved address is checked, and the connection uses one of them.
 */
import type { EgressPolicy, ServerCertificate, TlsTrust } from './outbound.js';

/** Protocols with STARTTLS. */
export const START_TLS_PROTOCOLS = ['smtp', 'imap', 'pop3', 'ldap'] as const;
export type StartTlsProtocol = (typeof START_TLS_PROTOCOLS)[number];

export const DATABASE_KINDS = ['postgresql', 'mysql', 'redis', 'mongodb'] as const;
export type DatabaseKind = (typeof DATABASE_KINDS)[number];

/** Handshake that verifies the protocol of the server. */
export type ProtocolProbe =
  | { kind: DatabaseKind }
  /** gRPC health check. @property service empty: the whole server */
  | { kind: 'grpc'; service: string }
  | { kind: 'websocket'; url: URL; host: string; headers: Readonly<Record<string, string>> };

export interface ConnectRequest {
  /** Name or address. */
  host: string;
  port: number;
  /** Performs a TLS handshake for `tlsHost`, or this host. */
  tls?: boolean;
  tlsHost?: string;
  trust?: TlsTrust;
  /** Before the handshake. */
  starttls?: StartTlsProtocol;
  /** Runs after connection and handshake, unless the certificate is untrusted. */
  dialogue?: ProtocolProbe;
  /** DNS server, `address` or `address:port`. Default: the system's. */
  resolver?: string;
  /** Milliseconds in total; default 10,000. */
  timeoutMs?: number;
  policy: EgressPolicy;
}

export interface ConnectResult {
  /** Address that responded. */
  address: string;
  duration_ms: number;
  /** After a TLS handshake. */
  certificate: ServerCertificate | null;
  /** TLS library's reason for distrust; null: trusted, or no handshake. */
  untrusted: string | null;
  /** Short response of the protocol probe, or null. */
  said: string | null;
  /** The address is globally reachable. */
  public: boolean;
}

export const RECORD_TYPES = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

export interface LookupRequest {
  name: string;
  type: RecordType;
  /** DNS server, `address` or `address:port`. Default: the system's. */
  resolver?: string;
  policy: EgressPolicy;
  /** Milliseconds; default 10,000. */
  timeoutMs?: number;
}

export interface EchoRequest {
  host: string;
  /** DNS server, `address` or `address:port`. Default: the system's. */
  resolver?: string;
  /** Milliseconds; default 10,000. */
  timeoutMs?: number;
  policy: EgressPolicy;
}

export interface NetworkProbe {
  /** Returns why a host is denied before name resolution; null: allowed, or a name. */
  checkHost(host: string, policy: EgressPolicy): string | null;
  /** Returns why a DNS server is denied, or null. @param server `address` or `address:port` */
  checkResolver(server: string, policy: EgressPolicy): string | null;
  /**
   * Returns why a certificate authority is unusable, or null.
   * @param pem one or more certificates
   */
  findAuthorityFault(pem: string): string | null;
  /** Connects and disconnects. @throws OutboundError */
  connect(request: ConnectRequest): Promise<ConnectResult>;
  /**
   * Queries DNS; returns each record as text, or an empty list.
   * @throws OutboundError `dns`, `timeout`
   */
  lookup(request: LookupRequest): Promise<{ records: string[]; duration_ms: number }>;
  /**
   * Sends one ICMP echo.
   * @throws OutboundError `timeout`: no response; `unsupported`: not permitted on this system;
   *   `connect`: unreachable
   */
  sendEcho(request: EchoRequest): Promise<{ address: string; duration_ms: number }>;
  /** Returns why this system cannot send ICMP echoes, or null. */
  findEchoFault(): Promise<string | null>;
}
