/**
 * A worker that opens raw connections from twenty addresses in turn, writes what it is told on each
 * and holds them open; one that is ended is opened again. It says `{opened}` when every one has
 * been written to, or, where they read nothing, when each has its first bytes. By itself, so that
 * it holds up no caller.
 */
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface Flood {
  port: number;
  count: number;
  /** Written one after the other on each connection; taken in turn by the connections. */
  writes: readonly (readonly (string | Uint8Array)[])[];
  /** Of what comes only the first bytes are read. */
  unread?: boolean;
}

const ADDRESSES = Array.from({ length: 20 }, (_, i) => `127.0.0.${i + 10}`);

/**
 * Before a connection that was ended is opened again, so that refusing them costs more than the
 * attack.
 */
const PAUSE_MS = 200;

function open(i: number, { port, writes, unread = false }: Flood): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, localAddress: ADDRESSES[i % ADDRESSES.length]! });
  return new Promise((resolve) => {
    socket
      .on('error', () => resolve())
      .once('close', () => {
        resolve();
        setTimeout(() => void open(i, flood), PAUSE_MS);
      });
    if (unread) socket.once('readable', () => resolve());
    else socket.resume();
    socket.once('connect', () => {
      const parts = writes[i % writes.length]!;
      parts.forEach((part, n) => socket.write(part, () => n === parts.length - 1 && !unread && resolve()));
    });
  });
}

const flood = workerData as Flood;
await Promise.all(Array.from({ length: flood.count }, (_, i) => open(i, flood)));
parentPort?.postMessage({ opened: flood.count }, []);
