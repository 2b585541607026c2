/** One request as a handler sees it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getClientNetwork } from '../../../lib/addresses.js';
import type { HttpRequest, Principal, RateClass } from '../../../ports/http/index.js';
import type { AddressResolver } from './client-address.js';
import { parseCookies } from './cookies.js';

export const PUBLIC_PRINCIPAL: Principal = { kind: 'public' };

export interface RequestSource {
  raw: { req: IncomingMessage; res: ServerResponse };
  path: string;
  params: unknown;
  query: Record<string, unknown>;
  app?: unknown;
}

export interface ToolCallContext {
  counted?: RateClass;
  tool?: string;
  outer?: Pick<HttpRequest, 'signal' | 'waiting'>;
}

interface HeldBody {
  readonly bytes?: number;
  release(): void;
}

const CREDENTIAL_FRESH_MS = 50;

const NO_WARNINGS: readonly string[] = [];

/** Only the adapter and the access plugin read credentials. */
const SECRET_HEADERS = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-sentry-auth', 'x-csrf-token']);

export class IncomingRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly tool: string | undefined;
  readonly countedAs: RateClass | undefined;
  params: Record<string, string>;
  query: Record<string, unknown>;
  chosenProject: string | undefined;
  limited: ReadonlyMap<string, number> | undefined;
  body: unknown = null;
  warnings: readonly string[] = NO_WARNINGS;
  principal: Principal = PUBLIC_PRINCIPAL;
  #reauthorize: (() => Promise<void>) | null = null;
  #identifiedAt = Infinity;
  #address: string | null = null;
  #network: string | null = null;
  #headers: Record<string, string | undefined> | null = null;
  #cookies: Record<string, string> | null = null;
  #signal: AbortSignal | null = null;
  #waiting: AbortSignal | null = null;
  #heldBody: HeldBody | null = null;

  constructor(
    readonly id: string,
    private readonly request: RequestSource,
    private readonly addressOf: AddressResolver,
    private readonly secure: boolean,
    private readonly ending?: AbortSignal,
  ) {
    const { counted, tool } = (request.app ?? {}) as ToolCallContext;
    this.tool = tool;
    this.countedAs = counted;
    this.method = request.raw.req.method ?? 'GET';
    this.path = request.path;
    this.params = request.params as Record<string, string>;
    this.query = request.query;
  }

  get raw(): RequestSource['raw'] {
    return this.request.raw;
  }

  get address(): string {
    this.#address ??= this.addressOf(this.peer, this.request.raw.req.headers['x-forwarded-for']);
    return this.#address;
  }

  setPrincipal(principal: Principal, again: () => Promise<void>): void {
    this.principal = principal;
    this.#reauthorize = again;
    this.#identifiedAt = performance.now();
  }

  /** Whether the credential must be checked again before the call runs. */
  get isStale(): boolean {
    return performance.now() - this.#identifiedAt > CREDENTIAL_FRESH_MS;
  }

  async reauthorize(): Promise<void> {
    await this.#reauthorize?.();
  }

  get network(): string {
    this.#network ??= getClientNetwork(this.address);
    return this.#network;
  }

  get peer(): string | undefined {
    return this.request.raw.req.socket?.remoteAddress;
  }

  get rawHeaders(): Readonly<Record<string, string | undefined>> {
    const { headers: given } = this.request.raw.req;
    if (given['set-cookie'] === undefined) return given as Record<string, string | undefined>;
    const headers: Record<string, string | undefined> = {};
    for (const [name, value] of Object.entries(given)) {
      headers[name] = Array.isArray(value) ? value.join(', ') : value;
    }
    return headers;
  }

  readonly retainBody = (body: HeldBody): void => void (this.#heldBody = body);

  get heldBytes(): number {
    return this.#heldBody?.bytes ?? 0;
  }

  releaseBody(): void {
    this.#heldBody?.release();
  }

  get headers(): Readonly<Record<string, string | undefined>> {
    this.#headers ??= Object.fromEntries(Object.entries(this.rawHeaders).filter(([name]) => !SECRET_HEADERS.has(name)));
    return this.#headers;
  }

  get cookies(): Readonly<Record<string, string>> {
    this.#cookies ??= parseCookies(this.request.raw.req.headers['cookie'], this.secure);
    return this.#cookies;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#outerCall?.signal ?? this.#createCloseSignal();
    return this.#signal;
  }

  get waiting(): AbortSignal {
    this.#waiting ??= this.#outerCall?.waiting ?? this.#createWaitSignal();
    return this.#waiting;
  }

  get #outerCall(): ToolCallContext['outer'] {
    return ((this.request.app ?? {}) as ToolCallContext).outer;
  }

  #createCloseSignal(): AbortSignal {
    const controller = new AbortController();
    const { res } = this.request.raw;
    const gone = (): void => {
      if (!res.writableFinished) controller.abort();
    };
    if (res.closed) gone();
    else res.once('close', gone);
    return controller.signal;
  }

  #createWaitSignal(): AbortSignal {
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
