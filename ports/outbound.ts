export const OUTBOUND_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type OutboundMethod = (typeof OUTBOUND_METHODS)[number];

/** HTTP to other machines, under the egress policy of contract 70 (delivery, egress). */
export interface OutboundRequest {
  method: OutboundMethod;
  url: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** DNS and connect; default 5,000. */
  connectTimeoutMs?: number;
  /** Everything; default 15,000. */
  timeoutMs?: number;
  /** Reads no further; default 65,536. */
  maxBytes?: number;
  /** The answer tells of the receiver's certificate. */
  certificate?: boolean;
  /** In the place of the URL's host: in the header `Host`, and whom the certificate must be for. */
  host?: string;
  /** Reads the body by its `Content-Encoding`. */
  decode?: boolean;
  /** An answer without end, or one that comes too late, is cut. Absent: it is a fault. */
  partial?: PartialBody;
  tls?: TlsTrust;
  /** The DNS server that is asked for the host, `address` or `address:port`. Default: the system's. */
  resolver?: string;
  policy: EgressPolicy;
}

export interface PartialBody {
  /** Of the body after the headers; Infinity: as long as the request may last. */
  waitMs: number;
  /** A text, in UTF-8, after which nothing more is read. */
  until?: string;
}

export interface TlsTrust {
  /** A certificate authority that is trusted in addition to the usual ones, PEM. */
  ca?: string;
  /** Any certificate will do. */
  insecure?: boolean;
}

export interface EgressPolicy {
  mode: 'private-ok' | 'public-only';
  /** CIDRs that `public-only` lets pass; never opens what is always blocked. */
  allow: readonly string[];
}

export interface OutboundResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** The values of `Set-Cookie`, which cannot be joined. Absent: there are none. */
  cookies?: string[];
  /** The body was longer than `maxBytes`, or cut by `partial`. */
  truncated: boolean;
  /** How long the end of a body that was cut was waited for in vain, in ms; absent: it was not cut. */
  waited_ms?: number;
  /** With `decode`: the encoding that its header names and that it is not in; null or absent: it was read. */
  undecodable?: string | null;
  /** It came from a globally reachable address, not from one of the own network. */
  public: boolean;
  duration_ms: number;
  /** Where it was asked for, over TLS. */
  certificate?: ServerCertificate | null;
}

/** What the other side of a TLS connection showed. */
export interface ServerCertificate {
  /** The name that it is for, as it says itself. */
  subject: string;
  issuer: string;
  /** RFC 3339 UTC. */
  valid_until: string;
}

/**
 * Why a request did not get an answer. `blocked` is the policy's verdict and is never retried. `unsupported`: this
 * system cannot send such a request. `protocol`: the answer is not what it should be.
 */
export type OutboundFault =
  'blocked' | 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'invalid_url' | 'unsupported' | 'protocol';

export class OutboundError extends Error {
  override name = 'OutboundError';
  constructor(
    readonly fault: OutboundFault,
    message: string,
    /** Of `tls`, as the TLS library names it: `CERT_HAS_EXPIRED`; null: it does not say. */
    readonly code: string | null = null,
  ) {
    super(message);
  }

  /** The message without internal addresses and their names. */
  get bareMessage(): string {
    return this.fault === 'blocked' ? 'the address is not allowed' : this.message;
  }
}

export interface Outbound {
  /** No redirects are followed. @throws OutboundError */
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /** Judges a URL without a request: scheme, user info, literal addresses. Null when it may be tried. */
  judge(url: string, policy: EgressPolicy): string | null;
}
