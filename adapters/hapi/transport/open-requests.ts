/**
 * Every request from its head until its connection is done with the answer, whatever answers it: their number, for a
 * stop that waits for them, and one line in the log for each at level debug, or at any level where it took long
 * (contract 95, shutdown). A line holds no header, no body, no query and no address as it was asked: those may be
 * secrets.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../../ports/http.js';
import type { Logger } from '../../../ports/logger.js';

export interface RequestLog {
  /** Takes warnings whatever the configured level is. */
  log: Logger;
  /** A line for each request. */
  all: boolean;
  /** Requests that take longer are written as warnings. */
  slowMs: number;
}

/** What its route knows of a request. */
export interface KnownRequest {
  id: string;
  /** As the plugin wrote it; null: nothing is mounted there. */
  route: string | null;
  who: () => string;
}

interface Open {
  began: number;
  /** When the answer was handed over that the reader now takes as fast as it can. */
  answered: number | null;
  written: number;
  known: KnownRequest | null;
}

export class OpenRequests {
  /** No WeakMap: one with an entry for each request keeps the collector busy. */
  readonly #open = new Map<IncomingMessage, Open>();
  #count = 0;
  #idle: (() => void) | null = null;

  constructor(private readonly rules: RequestLog | null) {}

  begin(req: IncomingMessage, res: ServerResponse): void {
    const written = this.rules === null ? 0 : req.socket.bytesWritten;
    const open: Open = { began: performance.now(), answered: null, written, known: null };
    this.#open.set(req, open);
    this.#count += 1;
    res.once('close', () => this.#closed(req, res, open));
  }

  /** Its route has it. */
  known(req: IncomingMessage, known: KnownRequest): void {
    const open = this.#open.get(req);
    if (open !== undefined) open.known = known;
  }

  /** From here on the time is the reader's. */
  answered(req: IncomingMessage): void {
    const open = this.#open.get(req);
    if (open !== undefined) open.answered ??= performance.now();
  }

  /** Resolves when all are answered, or after so many milliseconds. */
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
    this.#open.delete(req);
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
      bytes: req.socket.bytesWritten - open.written,
      request_id: open.known?.id ?? null,
      who: open.known?.who() ?? 'nobody',
      ...(aborted && { aborted }),
    };
    if (slow) log.warn(line, 'a slow request');
    else log.debug(line, 'request');
  }
}

/** Who asked, in a word and a name; never a secret. */
export function whoIs(principal: Principal): string {
  const { kind } = principal;
  if (kind === 'token') return `token ${principal.id}`;
  if (kind === 'session') return `account ${principal.username}`;
  if (kind === 'basic' && principal.username !== null) return `basic ${principal.username}`;
  return kind === 'shared_key' ? 'shared key' : 'nobody';
}
