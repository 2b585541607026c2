/** Cuts off slow senders; only the time spent waiting for the sender counts. */
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../../kernel/errors.js';
import { sendContinue } from '../wire/expect-continue.js';

export interface MinimumRate {
  bytes: number;
  windowMs: number;
}

export const createCutOffError = (): ServiceError => new ServiceError('invalid_request', 'The body is incomplete.');
export const createTooLongError = (limit: number): ServiceError =>
  new ServiceError('payload_too_large', `The body is larger than ${limit} bytes.`);

/**
 * @param limit bytes
 * @throws ServiceError 413 beyond the limit, 400 when the sender is too slow or disconnects
 */
export async function* readPacedBody(
  req: IncomingMessage,
  limit: number,
  least: MinimumRate,
): AsyncGenerator<Buffer, void, void> {
  sendContinue(req);
  const wait = new PacedWait(req, least);
  let bytes = 0;
  for (;;) {
    const piece = req.read() as Buffer | null;
    if (piece !== null) {
      bytes += piece.length;
      if (bytes > limit) throw createTooLongError(limit);
      wait.recordArrival(piece.length);
      yield piece;
    } else if (req.readableEnded) return;
    else await wait.waitForMore();
  }
}

class PacedWait {
  #waitedMs = 0;
  #bytes = 0;

  constructor(
    private readonly req: IncomingMessage,
    private readonly least: MinimumRate,
  ) {}

  recordArrival(bytes: number): void {
    this.#bytes += bytes;
  }

  waitForMore(): Promise<void> {
    const { req, least } = this;
    if (req.destroyed) return Promise.reject(createCutOffError());
    const began = performance.now();
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        clearTimeout(timer);
        req.off('readable', onMore).off('end', onMore).off('close', onCut).off('error', onCut);
        this.#waitedMs += performance.now() - began;
        if (error) reject(error);
        else resolve();
      };
      const onMore = (): void => settle();
      const onCut = (): void => settle(createCutOffError());
      const onWindow = (): void => {
        if (this.#bytes < least.bytes) return settle(createTooSlowError(least));
        this.#waitedMs = 0;
        this.#bytes = 0;
        settle();
      };
      const timer = setTimeout(onWindow, Math.max(0, least.windowMs - this.#waitedMs));
      req.on('readable', onMore).on('end', onMore).on('close', onCut).on('error', onCut);
    });
  }
}

const createTooSlowError = ({ bytes, windowMs }: MinimumRate): ServiceError =>
  new ServiceError(
    'invalid_request',
    `The body arrived slower than ${bytes} bytes in ${Math.ceil(windowMs / 1000)} s.`,
  );
