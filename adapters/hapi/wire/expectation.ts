/** Whether a request brings a body, and whether its sender waits for `100 Continue` first. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Whether the request announces a body at all. */
export const hasBody = (req: IncomingMessage): boolean =>
  req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';

/** Requests with `Expect: 100-continue` that wait for the word. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();
export const expectsContinue = (req: IncomingMessage, res: ServerResponse): void => void waiting.set(req, res);
export const awaitsContinue = (req: IncomingMessage): boolean => waiting.has(req);
/** Sends `100 Continue`, once, to a sender that waits for it. */
export function letContinue(req: IncomingMessage): void {
  waiting.get(req)?.writeContinue();
  waiting.delete(req);
}
