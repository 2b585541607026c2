/**
 * Closes a listener behind a proxy: kept-alive connections stay open for a moment, because a proxy
 * cannot repeat a POST on a connection that just closed.
 */
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';

/** Longer than a busy proxy leaves a connection unused. */
const KEPT_MS = 2_000;
const LOOK_MS = 20;

/**
 * Stops listening immediately. Resolves when all connections have ended or the grace period is
 * over.
 */
export async function closeBehindProxy(listener: Server): Promise<void> {
  NetServer.prototype.close.call(listener);
  const end = performance.now() + KEPT_MS;
  while (performance.now() < end && (await connections(listener)) > 0) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

const connections = (listener: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    listener.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
