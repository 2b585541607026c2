/**
 * Keep-alive pools of `NodeOutbound`. A connection belongs to one origin *and* the addresses
 * checked when it was opened. It is reused only when the same addresses are resolved and checked
 * again. Thus no connection survives a DNS or policy change or is shared between TLS names.
 */
import http from 'node:http';
import https from 'node:https';

/**
 * Shorter than the usual server timeout (5 s), so that requests rarely hit a closing connection.
 */
const IDLE_MS = 4_000;
const IDLE_PER_ORIGIN = 128;

const OPTIONS = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_PER_ORIGIN, scheduling: 'lifo' } as const;

export interface Checked {
  checked: string;
}

class PlainSockets extends http.Agent {
  override getName(options?: http.ClientRequestArgs & Partial<Checked>): string {
    return `${super.getName(options)} ${options?.checked}`;
  }
}

class SecureSockets extends https.Agent {
  override getName(options?: https.RequestOptions & Partial<Checked>): string {
    return `${super.getName(options)} ${options?.checked}`;
  }
}

export interface Sockets {
  plain: http.Agent;
  secure: https.Agent;
  /**
   * Performs full handshakes, for callers that inspect the certificate. A resumed session shows the
   * certificate of the old session, even when the server has replaced it.
   */
  whole: https.Agent;
}

export const keptSockets = (): Sockets => ({
  plain: new PlainSockets(OPTIONS),
  secure: new SecureSockets(OPTIONS),
  whole: new SecureSockets({ ...OPTIONS, maxCachedSessions: 0 }),
});
