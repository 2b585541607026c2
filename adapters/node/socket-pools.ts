/**
 * A connection belongs to one origin *and* the addresses checked when it was opened. It is reused
 * only when the same addresses are resolved and checked again.
 */
import http from 'node:http';
import https from 'node:https';

/** Shorter than the usual server timeout (5 s). */
const IDLE_TIMEOUT_MS = 4_000;
const MAX_IDLE_PER_ORIGIN = 128;

const AGENT_OPTIONS = {
  keepAlive: true,
  timeout: IDLE_TIMEOUT_MS,
  maxFreeSockets: MAX_IDLE_PER_ORIGIN,
  scheduling: 'lifo',
} as const;

export interface CheckedConnectionOptions {
  checked: string;
}

class CheckedHttpAgent extends http.Agent {
  override getName(options?: http.ClientRequestArgs & Partial<CheckedConnectionOptions>): string {
    return `${super.getName(options)} ${options?.checked}`;
  }
}

class CheckedHttpsAgent extends https.Agent {
  override getName(options?: https.RequestOptions & Partial<CheckedConnectionOptions>): string {
    return `${super.getName(options)} ${options?.checked}`;
  }
}

export interface SocketPools {
  plain: http.Agent;
  secure: https.Agent;
  /**
   * A resumed session shows the certificate of the old session, even when the server has replaced
   * it.
   */
  whole: https.Agent;
}

export const createSocketPools = (): SocketPools => ({
  plain: new CheckedHttpAgent(AGENT_OPTIONS),
  secure: new CheckedHttpsAgent(AGENT_OPTIONS),
  whole: new CheckedHttpsAgent({ ...AGENT_OPTIONS, maxCachedSessions: 0 }),
});
