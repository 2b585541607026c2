/**
 * A proxy cannot repeat a POST on a connection that just closed, so kept-alive ones stay open for a
 * moment.
 */
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';

/** Longer than a busy proxy leaves a connection unused. */
const KEEP_ALIVE_GRACE_MS = 2_000;
const POLL_INTERVAL_MS = 20;

/** Stops listening immediately. */
export async function closeBehindProxy(listener: Server): Promise<void> {
  NetServer.prototype.close.call(listener);
  const end = performance.now() + KEEP_ALIVE_GRACE_MS;
  while (performance.now() < end && (await countConnections(listener)) > 0) {
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}

const countConnections = (listener: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    listener.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
