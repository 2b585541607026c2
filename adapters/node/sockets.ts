/**
 * Kept connections of NodeOutbound. A connection belongs to one origin *and* to the addresses that were checked when it
 * was made; a request takes it only when exactly these addresses were found and checked for it again. So no connection
 * outlives a change of DNS or of policy, and none is shared between TLS names.
 */
import http from 'node:http';
import https from 'node:https';

/** Shorter than what common servers grant (5 s), so that we seldom write into a connection that is being closed. */
const IDLE_MS = 4_000;
/** Idle ones of one origin: as many as webhooks with one receiver that were attempted together. */
const IDLE_PER_ORIGIN = 128;

const OPTIONS = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_PER_ORIGIN, scheduling: 'lifo' } as const;

/** What our requests add to node's options, as one text: the checked host, its addresses and further authorities. */
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
   * For those who ask what certificate there is: each handshake is whole. One that goes on with an old session shows
   * the certificate of that session, long after the server has another or its time is over.
   */
  whole: https.Agent;
}

export const keptSockets = (): Sockets => ({
  plain: new PlainSockets(OPTIONS),
  secure: new SecureSockets(OPTIONS),
  whole: new SecureSockets({ ...OPTIONS, maxCachedSessions: 0 }),
});
