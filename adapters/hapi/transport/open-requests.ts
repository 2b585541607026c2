/**
 * Every request from its head until its connection is done with the answer, whatever answers it. Their number lets a
 * stop wait for them (contract 95, shutdown). Each gets one line in the log at level debug, and a slow one at any
 * level. A line holds no header, body, query or address as requested: they may hold secrets.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../../ports/http.js';
import type { Logger } from '../../../ports/logger.js';
import { CountedResponse } from './counted-response.js';

export interface RequestLog {
  /** Takes warnings at any configured level. */
  log: Logger;
  /** Writes a line for each request. */
  all: boolean;
  /** Requests that take longer are logged as warnings. */
  slowMs: number;
}

/** Facts about a request that only its route knows. */
export interface KnownRequest {
  id: string;
  /** The path as the plugin wrote it; null: no route there. */
  route: string | null;
  who: () => string;
}

interface Open {
  began: number;
  /** When the answer was handed over; its reader takes it as fast as it can from then on. */
  answered: number | null;
  written: number;
  known: KnownRequest | null;
}

/**
 * Where a request keeps its facts. Not in a map of the requests: its tables grow old, those that it has left keep the
 * finished requests with their bodies alive until the whole heap is looked through, and reports of 50 KB cost the
 * service twice the processor time; an entry of a WeakMap for each request costs as much (decision 020).
 */
const OPEN = Symbol('open request');

type Tracked = IncomingMessage & { [OPEN]?: Open };

export class OpenRequests {
  #count = 0;
  #idle: (() => void) | null = null;

  constructor(private readonly rules: RequestLog | null) {}

  /** Whether each request gets a line. */
  get logsAll(): boolean {
    return this.rules?.all === true;
  }

  begin(req: IncomingMessage, res: ServerResponse): void {
    const written = this.rules === null ? 0 : req.socket.bytesWritten;
    const open: Open = { began: performance.now(), answered: null, written, known: null };
    (req as Tracked)[OPEN] = open;
    this.#count += 1;
    res.once('close', () => this.#closed(req, res, open));
  }

  /** Notes that a route has the request. */
  known(req: IncomingMessage, known: KnownRequest): void {
    const open = (req as Tracked)[OPEN];
    if (open !== undefined) open.known = known;
  }

  /** Notes that the answer is made: from here on the time is the reader's. */
  answered(req: IncomingMessage): void {
    const open = (req as Tracked)[OPEN];
    if (open !== undefined) open.answered ??= performance.now();
  }

  /** Resolves when all are answered, or after `timeoutMs`. */
  async drained(timeoutMs: number): Promise<void> {
    if (this.#count === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
      timer = setTimeout(resolve, timeoutMs);
    });
    clearTimeout(timer);
  }

  #closed(req: IncomingMessage, res: ServerResponse, open: Open): void {
    this.#count -= 1;
    if (this.#count === 0) this.#idle?.();
    if (this.rules === null) return;
    const { log, all, slowMs } = this.rules;
    const now = performance.now();
    const slow = (open.answered ?? now) - open.began > slowMs;
    if (!slow && !all) return;
    const aborted = !res.writableFinished;
    const line = {
      method: req.method,
      route: open.known?.route ?? null,
      // 499: the caller left before there was an answer.
      status: aborted && !res.headersSent ? 499 : res.statusCode,
      ms: Math.round(now - open.began),
      ...(open.answered !== null && { answered_ms: Math.round(open.answered - open.began) }),
      bytes: bodyBytes(res, req.socket.bytesWritten - open.written),
      request_id: open.known?.id ?? null,
      who: open.known?.who() ?? 'nobody',
      ...(aborted && { aborted }),
    };
    if (slow) log.warn(line, 'a slow request');
    else log.debug(line, 'request');
  }
}

/** Of the body; of a caller that has left at most what its connection took. */
function bodyBytes(res: ServerResponse, sent: number): number {
  return Math.min(res instanceof CountedResponse ? res.bodyBytes : sent, sent);
}

/** The caller as a word and a name; never a secret. */
export function whoIs(principal: Principal): string {
  const { kind } = principal;
  if (kind === 'token') return `token ${principal.id}`;
  if (kind === 'session') return `account ${principal.username}`;
  if (kind === 'basic' && principal.username !== null) return `basic ${principal.username}`;
  return kind === 'shared_key' ? 'shared key' : 'nobody';
}
