/**
 * A request's body as it arrives; its first bytes can be read alone, which hapi's parser cannot do.
 */
import type { IncomingMessage } from 'node:http';
import { Failure, OVERLOADED, createTooLargeFailure } from '../wire/failure.js';
import { hasBody, sendContinue } from '../wire/expect-continue.js';
import type { BodyFilterStream } from './body-filter.js';
import type { BodyBudget, BodyReservation } from '../limits/body-budget.js';
import { yieldToEventLoop } from '../../../lib/process/event-loop.js';

export interface Pace {
  timeoutMs: number;
  /** Bytes per second; 0: no minimum. */
  leastRate: number;
}

export const PACE_CHECK_INTERVAL_MS = 5_000;

const EMPTY_BUFFER = Buffer.alloc(0);

const BODY_CUT_OFF = new Failure('invalid_request', 'The body is incomplete.');

/** Node marks the request as complete only after handing over the last bytes. */
const hasArrived = (req: IncomingMessage): boolean =>
  req.readableFlowing === null && req.readableLength === Number(req.headers['content-length']);

export class WireBody {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #ended = false;
  #most = Infinity;
  #failure: Failure | null = null;
  #settle: ((failure: Failure | null) => void) | null = null;
  #bodyFilter: BodyFilterStream | null = null;

  private constructor(
    private readonly req: IncomingMessage,
    private readonly limit: number,
    readonly lease: BodyReservation,
  ) {}

  static open(req: IncomingMessage, limit: number, budget: BodyBudget, owner: string): WireBody | Failure {
    const declared = req.headers['content-length'];
    if (declared !== undefined && Number(declared) > limit) return createTooLargeFailure(limit);
    let body: WireBody | null = null;
    const lease = budget.open(owner, () => body?.fail(OVERLOADED));
    if (lease === null) return OVERLOADED;
    body = new WireBody(req, limit, lease);
    if (!hasBody(req)) body.#ended = true;
    sendContinue(req);
    return body;
  }

  async readHead(bytes: number, pace: Pace): Promise<Buffer | Failure> {
    const failure = await this.#read(bytes, pace);
    if (failure) return failure;
    return this.#concatenate();
  }

  readBeginning(bytes: number, pace: Pace): Promise<Buffer | Failure> {
    this.#most = bytes;
    return this.readHead(bytes, pace);
  }

  async readFiltered(pace: Pace, bodyFilter: BodyFilterStream): Promise<Buffer | Failure> {
    const first = this.#concatenate();
    this.#chunks = [];
    this.lease.shrink(first.length);
    this.#bodyFilter = bodyFilter;
    try {
      const passed = bodyFilter.push(first, () => undefined);
      if (passed instanceof Failure) this.fail(passed);
      const failure = await this.#read(Infinity, pace);
      if (failure) return failure;
      this.lease.markArrived();
      return await bodyFilter.end();
    } finally {
      bodyFilter.destroy();
    }
  }

  async readWhole(pace: Pace): Promise<Buffer | Failure> {
    const failure = await this.#read(Infinity, pace);
    if (failure) return failure;
    this.lease.markArrived();
    return this.#concatenate();
  }

  fail(failure: Failure): void {
    this.#failure = failure;
    this.#chunks = [];
    this.lease.release();
    this.#settle?.(failure);
  }

  #concatenate(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks, this.#bytes)];
    return this.#chunks[0] ?? EMPTY_BUFFER;
  }

  async #read(until: number, pace: Pace): Promise<Failure | null> {
    if (this.#ended || this.#bytes >= until) return this.#failure;
    const { req } = this;
    if (!req.complete && hasArrived(req)) await yieldToEventLoop();
    if (req.destroyed) this.fail(BODY_CUT_OFF);
    if (this.#failure) return this.#failure;
    if (req.complete && req.readableFlowing === null) return this.#takeArrived();
    return new Promise((resolve) => {
      const pacer = this.#startPaceTimer(pace);
      const onData = (chunk: Buffer): void => {
        if (this.#add(chunk) && this.#bytes >= until) this.#settle?.(null);
      };
      const onEnd = (): void => {
        this.#ended = true;
        this.#settle?.(null);
      };
      const onClose = (): void => this.fail(BODY_CUT_OFF);
      // Named first, because V8 allocates a function that is written directly into a property among
      // old objects (decision 020).
      const settle = (failure: Failure | null): void => {
        this.#settle = null;
        clearInterval(pacer);
        req.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
        if (failure === null && !this.#ended) req.pause();
        resolve(failure);
      };
      this.#settle = settle;
      req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
      if (req.isPaused()) req.resume();
    });
  }

  #filterPiece(bodyFilter: BodyFilterStream, piece: Buffer): void {
    this.#bytes += piece.length;
    const passed = bodyFilter.push(piece, () => {
      if (this.#settle !== null) this.req.resume();
    });
    if (passed instanceof Failure) this.fail(passed);
    else if (passed === 'wait') this.req.pause();
  }

  /** Takes a body that arrived together with its head. */
  #takeArrived(): Failure | null {
    const bytes = (this.req.read() ?? EMPTY_BUFFER) as Buffer;
    this.#ended = true;
    this.#add(bytes);
    return this.#failure;
  }

  #add(arrived: Buffer): boolean {
    const remaining = this.#most - this.#bytes;
    const chunk = arrived.length > remaining ? arrived.subarray(0, remaining) : arrived;
    if (this.#bytes + chunk.length > this.limit) this.fail(createTooLargeFailure(this.limit));
    else if (this.#bodyFilter !== null) this.#filterPiece(this.#bodyFilter, chunk);
    else if (!this.lease.grow(chunk.length)) this.fail(OVERLOADED);
    else {
      this.#bytes += chunk.length;
      this.#chunks.push(chunk);
    }
    return this.#failure === null;
  }

  #startPaceTimer({ timeoutMs, leastRate }: Pace): NodeJS.Timeout {
    const everyMs = leastRate > 0 ? Math.min(PACE_CHECK_INTERVAL_MS, timeoutMs) : timeoutMs;
    let spentMs = 0;
    let seen = this.#bytes;
    return setInterval(() => {
      spentMs += everyMs;
      const slow = this.#bytes - seen < (leastRate * everyMs) / 1000;
      seen = this.#bytes;
      if (spentMs >= timeoutMs) this.fail(createTooSlowFailure(`within ${Math.ceil(timeoutMs / 1000)} seconds`));
      else if (slow) this.fail(createTooSlowFailure(`at ${leastRate} bytes per second or more`));
    }, everyMs);
  }
}

const createTooSlowFailure = (wanted: string): Failure =>
  new Failure('invalid_request', `The body did not arrive ${wanted}.`);
