/**
 * Whether something answers: a port, a TLS handshake, a name, a machine. Under the same egress policy as HTTP to other
 * machines (contract 70, delivery, egress): every address of a name is judged, and the connection goes to one of these.
 */
import type { EgressPolicy, ServerCertificate } from './outbound.js';

export interface ConnectRequest {
  /** A name or an address. */
  host: string;
  port: number;
  /** A TLS handshake follows, in which the other side is asked for this host. */
  tls?: boolean;
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
}

export const RECORD_TYPES = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

export interface LookupRequest {
  name: string;
  type: RecordType;
  /** Default 10,000. */
  timeoutMs?: number;
}

export interface EchoRequest {
  host: string;
  /** Default 10,000. */
  timeoutMs?: number;
  policy: EgressPolicy;
}

export interface Reach {
  /** Why this host may not be connected to, before any name is resolved; null: it may, or it is a name. */
  judge(host: string, policy: EgressPolicy): string | null;
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
