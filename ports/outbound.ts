export const OUTBOUND_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type OutboundMethod = (typeof OUTBOUND_METHODS)[number];

/** An HTTP request under the egress policy (contract 70, delivery, egress). */
export interface OutboundRequest {
  method: OutboundMethod;
  url: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Milliseconds for DNS and connect; default 5,000. */
  connectTimeoutMs?: number;
  /** Milliseconds in total; default 15,000. */
  timeoutMs?: number;
  /** Maximum bytes to read; default 65,536. */
  maxBytes?: number;
  certificate?: boolean;
  /** Overrides the URL's host in `Host` and for certificate verification. */
  host?: string;
  decode?: boolean;
  /** Truncates endless or late bodies. Absent: they are errors. */
  partial?: PartialBody;
  tls?: TlsTrust;
  /** DNS server, `address` or `address:port`. */
  resolver?: string;
  policy: EgressPolicy;
}

export interface PartialBody {
  /** For the body after the headers; Infinity: until the request's timeout. */
  waitMs: number;
  until?: string;
}

export interface TlsTrust {
  /** Additional trusted certificate authority, PEM. */
  ca?: string;
  insecure?: boolean;
}

export interface EgressPolicy {
  mode: 'private-ok' | 'public-only';
  /** CIDRs that `public-only` allows; never overrides what is always blocked. */
  allow: readonly string[];
}

export interface OutboundResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  cookies?: string[];
  /** By `maxBytes` or `partial`. */
  truncated: boolean;
  /** Absent: not truncated. */
  waited_ms?: number;
  /** Declared encoding that the body does not use. */
  undecodable?: string | null;
  /** The response came from a globally reachable address. */
  public: boolean;
  duration_ms: number;
  /** If requested. */
  certificate?: ServerCertificate | null;
}

/** Certificate of a TLS server. */
export interface ServerCertificate {
  subject: string;
  issuer: string;
  /** RFC 3339 UTC. */
  valid_until: string;
}

/**
 * `blocked`: denied by the policy, never retried. `unsupported`: impossible on this system.
 * `protocol`: invalid response.
 */
export type OutboundFault =
  'blocked' | 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'invalid_url' | 'unsupported' | 'protocol';

export class OutboundError extends Error {
  override name = 'OutboundError';
  constructor(
    readonly fault: OutboundFault,
    message: string,
    readonly code: string | null = null,
  ) {
    super(message);
  }

  /** Message without internal addresses and names. */
  get bareMessage(): string {
    return this.fault === 'blocked' ? 'the address is not allowed' : this.message;
  }
}

export interface Outbound {
  /**
   * Does not follow redirects.
   * @throws OutboundError
   */
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /**
   * Checks scheme, user info, literal addresses.
   * @returns the reason for a denial, or null
   */
  checkUrl(url: string, policy: EgressPolicy): string | null;
}
