/** One connection to a judged address, with a TLS handshake where that is asked for, and its end. */
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { OutboundError } from '../../../ports/outbound.js';
import type { Connected } from '../../../ports/reach.js';
import type { Deadlines } from '../deadlines.js';
import { certificateOf } from '../exchange.js';

interface Target {
  address: string;
  port: number;
  /** The name that the handshake asks for; null: no handshake. */
  servername: string | null;
  ca: string | undefined;
}

/** @throws OutboundError */
export function connection(
  { address, port, servername, ca }: Target,
  clock: Deadlines,
): Promise<Omit<Connected, 'duration_ms'>> {
  return new Promise((resolve, reject) => {
    const socket: Socket =
      servername === null
        ? connect({ host: address, port })
        : connectTls({
            host: address,
            port,
            // A certificate that nobody trusts is what is looked for: it is told of, and nothing is sent.
            rejectUnauthorized: false,
            ...(isIP(servername) === 0 && { servername }),
            ...(ca !== undefined && { ca }),
          });
    let connected = false;
    const fail = (fault: OutboundError): void => {
      socket.destroy();
      reject(fault);
    };
    clock.onFault(fail);
    socket.once('connect', () => (connected = true));
    socket.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      const why = code ?? message;
      fail(
        connected
          ? new OutboundError('tls', `TLS failed: ${why}`)
          : new OutboundError('connect', `no connection: ${why}`),
      );
    });
    socket.once('close', () => fail(new OutboundError('reset', 'the connection was closed during the handshake')));
    socket.once(servername === null ? 'connect' : 'secureConnect', () => {
      const certificate = certificateOf(socket);
      const untrusted =
        socket instanceof TLSSocket && !socket.authorized
          ? String(socket.authorizationError ?? 'not trusted').replace(/^Error: /, '')
          : null;
      resolve({ address, certificate, untrusted });
      socket.destroy();
    });
  });
}
