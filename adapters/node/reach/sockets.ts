/** RFC 8305, optionally with TLS (RFC 8305). */
import type { LookupAddress } from 'node:dns';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { OutboundError } from '../../../ports/outbound.js';
import { describeConnectFault } from '../connect-faults.js';
import type { Deadlines } from '../deadlines.js';
import { getServerName, getTlsContext } from '../tls-trust.js';

/** Delay before the next address is tried in parallel. */
const CONNECTION_ATTEMPT_DELAY_MS = 250;

function interleaveFamilies(addresses: readonly LookupAddress[]): LookupAddress[] {
  const first = addresses[0]?.family;
  const same = addresses.filter(({ family }) => family === first);
  const other = addresses.filter(({ family }) => family !== first);
  return Array.from({ length: Math.max(same.length, other.length) }, (_, i) => [same[i], other[i]])
    .flat()
    .filter((one) => one !== undefined);
}

/** @throws OutboundError of the first address when none answers */
export function openSocket(addresses: readonly LookupAddress[], port: number, clock: Deadlines): Promise<Socket> {
  const waiting = interleaveFamilies(addresses);
  const open = new Set<Socket>();
  let fault: OutboundError | null = null;
  let timer: NodeJS.Timeout | undefined;
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      for (const socket of open) socket.destroy();
      open.clear();
    };
    const next = (): void => {
      clearTimeout(timer);
      const address = waiting.shift()?.address;
      if (address === undefined) return;
      const socket = connect({ host: address, port });
      open.add(socket);
      if (waiting.length > 0) timer = setTimeout(next, CONNECTION_ATTEMPT_DELAY_MS);
      socket.once('connect', () => {
        open.delete(socket);
        end();
        socket.removeAllListeners('error');
        resolve(socket);
      });
      socket.once('error', ({ code, message }: NodeJS.ErrnoException) => {
        open.delete(socket);
        fault ??= new OutboundError('connect', describeConnectFault(code, message));
        if (waiting.length > 0) next();
        else if (open.size === 0) reject(fault);
      });
    };
    clock.onFault((late) => {
      end();
      reject(late);
    });
    next();
  });
}

export interface TlsOptions {
  /** Server name of the handshake, and the name that the certificate must match. */
  host: string;
  ca?: readonly string[];
  alpn?: string;
}

/**
 * The caller checks the certificate.
 * @throws OutboundError
 */
export function startTlsSession(
  socket: Socket,
  { host, ca = [], alpn }: TlsOptions,
  clock: Deadlines,
): Promise<TLSSocket> {
  const servername = getServerName(host);
  const secureContext = getTlsContext(ca);
  return new Promise((resolve, reject) => {
    const secure = connectTls({
      socket,
      // The certificate is checked against this host; nothing is resolved.
      host,
      // No data is sent.
      rejectUnauthorized: false,
      ...(servername !== undefined && { servername }),
      ...(secureContext !== undefined && { secureContext }),
      ...(alpn !== undefined && { ALPNProtocols: [alpn] }),
    });
    const fail = (fault: OutboundError): void => {
      secure.destroy();
      socket.destroy();
      reject(fault);
    };
    clock.onFault(fail);
    secure.on('error', ({ code, message }: NodeJS.ErrnoException) =>
      fail(new OutboundError('tls', `TLS failed: ${code ?? message}`)),
    );
    secure.once('close', () => fail(new OutboundError('reset', 'the connection was closed during the handshake')));
    secure.once('secureConnect', () => resolve(secure));
  });
}
