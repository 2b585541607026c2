import type { IncomingMessage, ServerResponse } from 'node:http';

export const hasBody = (req: IncomingMessage): boolean =>
  req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';

const waiting = new WeakMap<IncomingMessage, ServerResponse>();
export const expectsContinue = (req: IncomingMessage, res: ServerResponse): void => void waiting.set(req, res);
export const awaitsContinue = (req: IncomingMessage): boolean => waiting.has(req);
export function letContinue(req: IncomingMessage): void {
  waiting.get(req)?.writeContinue();
  waiting.delete(req);
}
