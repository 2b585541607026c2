/**
 * How a listener closes while a proxy is in front of it: a proxy sends a request on a connection that it has kept, and
 * cannot repeat a POST whose connection ends just then. So kept connections stay for a moment: whoever uses one learns
 * that it was for the last time, and closes it. Node's own `close` of an HTTP server ends them at once.
 */
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';

/** Longer than a busy proxy leaves a connection unused. */
const KEPT_MS = 2_000;
const LOOK_MS = 20;

/** Stops listening at once. Resolves when nobody is connected any more, or kept connections had their time. */
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
