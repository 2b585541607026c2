/**
 * Whether something answers: a port, a TLS handshake, a name, a machine. Under the same egress policy as HTTP to other
 * machines (contract 70, delivery, egress): every address of a name is judged, and the connection goes to one of these.
 */
import type { EgressPolicy, ServerCertificate, TlsTrust } from './outbound.js';

/** Protocols that begin without TLS and go over to it. */
export const START_TLS = ['smtp', 'imap', 'pop3', 'ldap'] as const;
export type StartTls = (typeof START_TLS)[number];

export const DATABASE_KINDS = ['postgresql', 'mysql', 'redis', 'mongodb'] as const;
export type DatabaseKind = (typeof DATABASE_KINDS)[number];

/** What is said over the connection, to see whether the other side speaks it. */
export type Dialogue =
  | { kind: DatabaseKind }
  /** The health check of gRPC. @property service empty: the server as a whole */
  | { kind: 'grpc'; service: string }
  | { kind: 'websocket'; url: URL; host: string; headers: Readonly<Record<string, string>> };

export interface ConnectRequest {
  /** A name or an address. */
  host: string;
  port: number;
  /** A TLS handshake follows, in which the other side is asked for `tlsHost`, else for this host. */
  tls?: boolean;
  tlsHost?: string;
  trust?: TlsTrust;
  /** Before the handshake. */
  starttls?: StartTls;
  /** After the connection, and the handshake; not with a certificate that is not trusted. */
  dialogue?: Dialogue;
  /** The DNS server that is asked for the host, `address` or `address:port`. Default: the system's. */
  resolver?: string;
  /** Everything; default 10,000. */
  timeoutMs?: number;
  policy: EgressPolicy;
}

export interface Connected {
  /** The one that answered. */
  address: string;
  duration_ms: number;
  /** After a TLS handshake. */
  certificate: ServerCertificate | null;
  /** Why the certificate is not to be trusted, as the TLS library names it; null: it is, or there was no handshake. */
  untrusted: string | null;
  /** What the other side said in the dialogue, in a few words; null: nothing. */
  said: string | null;
  /** The address that answered is a globally reachable one. */
  public: boolean;
}

export const RECORD_TYPES = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

export interface LookupRequest {
  name: string;
  type: RecordType;
  /** The DNS server that is asked, `address` or `address:port`. Default: the system's. */
  resolver?: string;
  policy: EgressPolicy;
  /** Default 10,000. */
  timeoutMs?: number;
}

export interface EchoRequest {
  host: string;
  /** The DNS server that is asked for the host, `address` or `address:port`. Default: the system's. */
  resolver?: string;
  /** Default 10,000. */
  timeoutMs?: number;
  policy: EgressPolicy;
}

export interface Reach {
  /** Why this host may not be connected to, before any name is resolved; null: it may, or it is a name. */
  judge(host: string, policy: EgressPolicy): string | null;
  /** Why this DNS server may not be asked; null: it may. @param server `address` or `address:port` */
  judgeResolver(server: string, policy: EgressPolicy): string | null;
  /** Why this cannot be trusted as a certificate authority, in a few words; null: it can. @param pem one or more */
  findAuthorityFault(pem: string): string | null;
  /** Connects, and closes again. @throws OutboundError */
  connect(request: ConnectRequest): Promise<Connected>;
  /** What DNS says now, each record as one text; none: an empty list. @throws OutboundError `dns`, `timeout` */
  lookup(request: LookupRequest): Promise<{ records: string[]; duration_ms: number }>;
  /**
   * One ICMP echo.
   * @throws OutboundError `timeout`: no answer; `unsupported`: this system lets nobody send one; `connect`: the host is
   *   unreachable
   */
  echo(request: EchoRequest): Promise<{ address: string; duration_ms: number }>;
  /** Why this system cannot send an echo, in a sentence; null: it can. */
  echoFault(): Promise<string | null>;
}
