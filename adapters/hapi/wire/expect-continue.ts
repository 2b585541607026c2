import type { IncomingMessage, ServerResponse } from 'node:http';

export const hasBody = (req: IncomingMessage): boolean =>
  req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';

const awaitingContinue = new WeakMap<IncomingMessage, ServerResponse>();
export const markAwaitingContinue = (req: IncomingMessage, res: ServerResponse): void =>
  void awaitingContinue.set(req, res);
export const isAwaitingContinue = (req: IncomingMessage): boolean => awaitingContinue.has(req);
export function sendContinue(req: IncomingMessage): void {
  awaitingContinue.get(req)?.writeContinue();
  awaitingContinue.delete(req);
}
