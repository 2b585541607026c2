/**
 * Tracks every request until its response is complete, so that a stop can wait for them (contract
 * 95, shutdown). Lines contain no header, body, query or requested URL, which may hold secrets.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../../ports/http/index.js';
import type { Logger } from '../../../ports/logger.js';
import { CountedResponse } from './counted-response.js';

export interface RequestLog {
  log: Logger;
  all: boolean;
  slowMs: number;
}

export interface RequestDetails {
  id: string;
  route: string | null;
  who: () => string;
}

interface OpenRequest {
  began: number;
  answered: number | null;
  written: number;
  known: RequestDetails | null;
}

/** A map's old tables would keep finished requests and their bodies alive (decision 020). */
const OPEN_REQUEST = Symbol('open request');

type TrackedRequest = IncomingMessage & { [OPEN_REQUEST]?: OpenRequest };

export class OpenRequests {
  #count = 0;
  #idle: (() => void) | null = null;

  constructor(private readonly rules: RequestLog | null) {}

  get isLoggingAll(): boolean {
    return this.rules?.all === true;
  }

  track(req: IncomingMessage, res: ServerResponse): void {
    const written = this.rules === null ? 0 : req.socket.bytesWritten;
    const open: OpenRequest = { began: performance.now(), answered: null, written, known: null };
    (req as TrackedRequest)[OPEN_REQUEST] = open;
    this.#count += 1;
    res.once('close', () => this.#handleClose(req, res, open));
  }

  setDetails(req: IncomingMessage, known: RequestDetails): void {
    const open = (req as TrackedRequest)[OPEN_REQUEST];
    if (open !== undefined) open.known = known;
  }

  /** Marks the response as ready: from here on the time is the reader's. */
  markAnswered(req: IncomingMessage): void {
    const open = (req as TrackedRequest)[OPEN_REQUEST];
    if (open !== undefined) open.answered ??= performance.now();
  }

  async drain(timeoutMs: number): Promise<void> {
    if (this.#count === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
      timer = setTimeout(resolve, timeoutMs);
    });
    clearTimeout(timer);
  }

  #handleClose(req: IncomingMessage, res: ServerResponse, open: OpenRequest): void {
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
      // 499: the client disconnected before the response.
      status: aborted && !res.headersSent ? 499 : res.statusCode,
      ms: Math.round(now - open.began),
      ...(open.answered !== null && { answered_ms: Math.round(open.answered - open.began) }),
      bytes: countBodyBytes(res, req.socket.bytesWritten - open.written),
      request_id: open.known?.id ?? null,
      who: open.known?.who() ?? 'nobody',
      ...(aborted && { aborted }),
    };
    if (slow) log.warn(line, 'a slow request');
    else log.debug(line, 'request');
  }
}

function countBodyBytes(res: ServerResponse, sent: number): number {
  return Math.min(res instanceof CountedResponse ? res.bodyBytes : sent, sent);
}

export function formatPrincipal(principal: Principal): string {
  const { kind } = principal;
  if (kind === 'token') return `token ${principal.id}`;
  if (kind === 'session') return `account ${principal.username}`;
  if (kind === 'basic' && principal.username !== null) return `basic ${principal.username}`;
  return kind === 'shared_key' ? 'shared key' : 'nobody';
}
