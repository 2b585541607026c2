/** Whether a body comes with a request, and whether its sender waits for a word before it sends one. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Whether the request announces a body at all. */
export const hasBody = (req: IncomingMessage): boolean =>
  req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';

/** Requests with `Expect: 100-continue`, which wait for a word before they send their body. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();
export const expectsContinue = (req: IncomingMessage, res: ServerResponse): void => void waiting.set(req, res);
export const awaitsContinue = (req: IncomingMessage): boolean => waiting.has(req);
/** `100 Continue`, once, to a sender that waits for it. */
export function letContinue(req: IncomingMessage): void {
  waiting.get(req)?.writeContinue();
  waiting.delete(req);
}
