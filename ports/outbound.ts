/** HTTP to other machines, under the egress policy of contract 70 (delivery, egress). */
export interface OutboundRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT';
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
  policy: EgressPolicy;
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
  /** The body was longer than `maxBytes`. */
  truncated: boolean;
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

/** Why a request did not get an answer. `blocked` is the policy's verdict and is never retried. */
/** `unsupported`: this system cannot send such a request. */
export type OutboundFault = 'blocked' | 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'invalid_url' | 'unsupported';

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
}

export interface Outbound {
  /** No redirects are followed. @throws OutboundError */
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /** Judges a URL without a request: scheme, user info, literal addresses. Null when it may be tried. */
  judge(url: string, policy: EgressPolicy): string | null;
}
