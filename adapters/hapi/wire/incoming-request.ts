/**
 * One request as a handler sees it. Parts that few handlers use (headers, cookies, the abort signal) are made on first
 * use.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getClientNetwork } from '../../../lib/addresses.js';
import type { HttpRequest, Principal, RateClass } from '../../../ports/http.js';
import type { AddressOf } from './address.js';
import { parseCookies } from './cookies.js';

export const PUBLIC: Principal = { kind: 'public' };

/** The used part of a request, which hapi has seen or not. */
export interface Requested {
  raw: { req: IncomingMessage; res: ServerResponse };
  path: string;
  params: unknown;
  query: Record<string, unknown>;
  /** Set only on a tool's call (tools.ts). */
  app?: unknown;
}

/** Facts about a request that was made for a tool. */
export interface InnerCall {
  /** The limit that has counted the surrounding request. */
  counted?: RateClass;
  tool?: string;
  /** The surrounding request, whose caller the tool's is. */
  outer?: Pick<HttpRequest, 'signal' | 'waiting'>;
}

/** A body's part of a budget, until it is given back. */
interface Room {
  readonly bytes?: number;
  close(): void;
}

/** Milliseconds. */
const FRESH_MS = 50;

const NO_WARNINGS: readonly string[] = [];

/** Never shown to a handler: credentials are the adapter's and the access plugin's business. */
const SECRET = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-sentry-auth', 'x-csrf-token']);

export class IncomingRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  /** Undefined for requests from outside. */
  readonly tool: string | undefined;
  /** Undefined for requests from outside. */
  readonly countedAs: RateClass | undefined;
  params: Record<string, string>;
  query: Record<string, unknown>;
  chosenProject: string | undefined;
  limited: ReadonlyMap<string, number> | undefined;
  body: unknown = null;
  /** About query parameters and fields of the body that were ignored. */
  warnings: readonly string[] = NO_WARNINGS;
  principal: Principal = PUBLIC;
  #reauthorize: (() => Promise<void>) | null = null;
  #identifiedAt = Infinity;
  #address: string | null = null;
  #network: string | null = null;
  #headers: Record<string, string | undefined> | null = null;
  #cookies: Record<string, string> | null = null;
  #signal: AbortSignal | null = null;
  #waiting: AbortSignal | null = null;
  #room: Room | null = null;

  constructor(
    readonly id: string,
    private readonly request: Requested,
    private readonly addressOf: AddressOf,
    private readonly secure: boolean,
    /** Of the service; undefined: its stop ends nothing. */
    private readonly ending?: AbortSignal,
  ) {
    const { counted, tool } = (request.app ?? {}) as InnerCall;
    this.tool = tool;
    this.countedAs = counted;
    this.method = request.raw.req.method ?? 'GET';
    this.path = request.path;
    this.params = request.params as Record<string, string>;
    this.query = request.query;
  }

  get raw(): Requested['raw'] {
    return this.request.raw;
  }

  get address(): string {
    this.#address ??= this.addressOf(this.peer, this.request.raw.req.headers['x-forwarded-for']);
    return this.#address;
  }

  /** Sets the caller. @param again finds and checks the caller again */
  identified(principal: Principal, again: () => Promise<void>): void {
    this.principal = principal;
    this.#reauthorize = again;
    this.#identifiedAt = performance.now();
  }

  /** Whether the credential was checked so long ago that it is checked again before the call is carried out. */
  get isStale(): boolean {
    return performance.now() - this.#identifiedAt > FRESH_MS;
  }

  async reauthorize(): Promise<void> {
    await this.#reauthorize?.();
  }

  /** The network that the caller is counted under. */
  get network(): string {
    this.#network ??= getClientNetwork(this.address);
    return this.#network;
  }

  /** The address at the other end of the connection. */
  get peer(): string | undefined {
    return this.request.raw.req.socket?.remoteAddress;
  }

  /** Headers with the credential, only for the judge of credentials. */
  get rawHeaders(): Readonly<Record<string, string | undefined>> {
    const { headers: given } = this.request.raw.req;
    // `set-cookie` is the only header of a request that may be a list.
    if (given['set-cookie'] === undefined) return given as Record<string, string | undefined>;
    const headers: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries(given)) {
      headers[name] = Array.isArray(value) ? value.join(', ') : value;
    }
    return headers;
  }

  /** Keeps the body's room until the request is answered. */
  readonly keep = (room: Room): void => void (this.#room = room);

  /** Bytes that the body holds, as it came and inflated. */
  get heldBytes(): number {
    return this.#room?.bytes ?? 0;
  }

  /** Gives the body's room back: the request is answered. */
  finish(): void {
    this.#room?.close();
  }

  get headers(): Readonly<Record<string, string | undefined>> {
    this.#headers ??= Object.fromEntries(Object.entries(this.rawHeaders).filter(([name]) => !SECRET.has(name)));
    return this.#headers;
  }

  get cookies(): Readonly<Record<string, string>> {
    this.#cookies ??= parseCookies(this.request.raw.req.headers['cookie'], this.secure);
    return this.#cookies;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#outer?.signal ?? this.#gone();
    return this.#signal;
  }

  get waiting(): AbortSignal {
    this.#waiting ??= this.#outer?.waiting ?? this.#goneOrEnding();
    return this.#waiting;
  }

  get #outer(): InnerCall['outer'] {
    return ((this.request.app ?? {}) as InnerCall).outer;
  }

  #gone(): AbortSignal {
    const controller = new AbortController();
    const { res } = this.request.raw;
    const gone = (): void => {
      if (!res.writableFinished) controller.abort();
    };
    if (res.closed) gone();
    else res.once('close', gone);
    return controller.signal;
  }

  #goneOrEnding(): AbortSignal {
    const controller = new AbortController();
    const { ending, signal } = this;
    const abort = (): void => controller.abort();
    if (signal.aborted || ending?.aborted === true) abort();
    signal.addEventListener('abort', abort);
    ending?.addEventListener('abort', abort);
    // The service outlives the request.
    this.request.raw.res.once('close', () => ending?.removeEventListener('abort', abort));
    return controller.signal;
  }
}
