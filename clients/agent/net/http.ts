/**
 * HTTP client (contract 90, what it sends): no redirect below `/api/`, five for packages, never
 * from https to http, credentials only to the origin of `--server`.
 */
import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { InvalidProxyVariable } from '../../../lib/http/proxy.js';
import { sendRequest, type ReceivedResponse } from '../../../lib/http/send-request.js';
import { getErrorCode, AgentFailure } from '../exit.js';
import type { Hooks } from '../hooks.js';
import { getAddressRejection } from '../options/address.js';

type Env = Readonly<Record<string, string | undefined>>;
type Headers = Record<string, string>;

const MAX_REDIRECTS = 5;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
const MAX_ERROR_BYTES = 64 * 1024;

export interface JsonAnswer {
  status: number;
  /** Null when the body is not a JSON object, for example another server's page. */
  body: Readonly<Record<string, unknown>> | null;
}

export interface StreamedAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  content: AsyncIterable<Buffer>;
  drop: () => void | Promise<void>;
}

export interface HttpSettings {
  env: Env;
  hooks: Hooks;
  signal: AbortSignal;
  allowHttp: boolean;
  /** PEM file; null for none. */
  caFile: string | null;
}

async function readAuthorities(file: string | null): Promise<{ ca?: string[] }> {
  if (file === null) return {};
  const pem = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new AgentFailure('usage', `--ca-file ${file} cannot be read: ${getErrorCode(error)}`, { cause: error });
  });
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    throw new AgentFailure('usage', `--ca-file ${file} does not contain a PEM certificate`);
  return { ca: [...rootCertificates, pem] };
}

export class HttpClient {
  #authorities: Promise<{ ca?: string[] }> | null = null;

  constructor(private readonly settings: HttpSettings) {}

  /** 429, 5xx, no response, a redirect or more than `most` bytes are exit 8. */
  async getJson(url: URL, most: number, bearer: string | null = null): Promise<JsonAnswer> {
    return this.#toJsonAnswer(
      url,
      await this.#sendRequest(url, { accept: 'application/json', ...toBearerHeaders(bearer) }),
      most,
    );
  }

  /**
   * Sends JSON below `/api/`. Like `getJson`, but 501 is a definite answer (contract 60, login).
   */
  async postJson(url: URL, content: object, most: number, bearer: string | null = null): Promise<JsonAnswer> {
    const headers = { accept: 'application/json', 'content-type': 'application/json', ...toBearerHeaders(bearer) };
    return this.#toJsonAnswer(url, await this.#sendRequest(url, headers, JSON.stringify(content)), most, 501);
  }

  /** Downloads a package. `authorization` is sent only to the origin of `url`. */
  async getStream(url: URL, headers: Headers, authorization: string | null): Promise<StreamedAnswer> {
    let at = url;
    for (let hop = 0; ; hop++) {
      const own: Headers = at.origin === url.origin && authorization !== null ? { authorization } : {};
      const { status, headers: answered, body } = await this.#sendRequest(at, { ...headers, ...own });
      const drop = (): void => void body.destroy();
      if (!REDIRECT_STATUSES.has(status)) return { status, headers: answered, content: this.#watchRate(body), drop };
      drop();
      if (hop === MAX_REDIRECTS)
        throw new AgentFailure('error', `the package download was redirected more than ${MAX_REDIRECTS} times`);
      at = this.#resolveRedirect(at, answered.location);
    }
  }

  /** @param definite status that is never transient */
  async #toJsonAnswer(
    url: URL,
    { status, body }: ReceivedResponse,
    most: number,
    definite?: number,
  ): Promise<JsonAnswer> {
    if (REDIRECT_STATUSES.has(status)) {
      body.destroy();
      throw new AgentFailure(
        'error',
        `${url.origin} redirects ${url.pathname}; redirects are not followed, check --server`,
      );
    }
    if (isTransient(status) && status !== definite) {
      body.destroy();
      throw new AgentFailure('transient', `${url.origin} answered ${status}; try again later`);
    }
    const bytes = await this.#readAll(this.#watchRate(body), most, url);
    return { status, body: parseJsonObject(bytes) };
  }

  #resolveRedirect(from: URL, location: string | undefined): URL {
    if (location === undefined || !URL.canParse(location, from.href))
      throw new AgentFailure('error', `${from.origin} redirects the package to an invalid address`);
    const to = new URL(location, from);
    if (from.protocol === 'https:' && to.protocol !== 'https:')
      throw new AgentFailure('error', `${from.origin} redirects the package from https to ${to.protocol}`);
    const why = getAddressRejection(to, this.settings.allowHttp);
    if (why !== null) throw new AgentFailure('error', `${from.origin} redirects the package to ${to.origin}: ${why}`);
    return to;
  }

  async #sendRequest(url: URL, headers: Headers, content?: string): Promise<ReceivedResponse> {
    const { hooks, signal, env, caFile } = this.settings;
    signal.throwIfAborted();
    const authorities = await (this.#authorities ??= readAuthorities(caFile));
    try {
      return await sendRequest(url, {
        ...(content === undefined ? {} : { method: 'POST', body: content }),
        headers: { 'user-agent': 'aos-update-agent', ...headers },
        env,
        ...authorities,
        responseTimeoutMs: hooks.answerMs,
        bodyTimeoutMs: hooks.answerMs,
        signal,
      });
    } catch (error) {
      if (error instanceof InvalidProxyVariable) throw new AgentFailure('usage', error.message, { cause: error });
      throw toNetworkFailure(error, url, signal);
    }
  }

  /**
   * Aborts when bytes arrive too slowly (slow retrieval): otherwise a server could block the agent
   * and its lock forever.
   */
  async *#watchRate(body: ReceivedResponse['body']): AsyncGenerator<Buffer> {
    const { bytesPerSecond, overMs } = this.settings.hooks.leastRate;
    let began = performance.now();
    let bytes = 0;
    try {
      for await (const piece of body as AsyncIterable<Buffer>) {
        bytes += piece.length;
        const ms = performance.now() - began;
        if (ms > overMs) {
          if (bytes < (bytesPerSecond * ms) / 1000)
            throw new AgentFailure('transient', `the server sends less than ${bytesPerSecond} bytes per second`);
          began = performance.now();
          bytes = 0;
        }
        yield piece;
        // Time spent by the reader does not count against the server.
        if (bytes === 0) began = performance.now();
      }
    } catch (error) {
      throw toNetworkFailure(error, null, this.settings.signal);
    }
  }

  async #readAll(content: AsyncIterable<Buffer>, most: number, url: URL): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of content) {
      bytes += piece.length;
      if (bytes > most)
        throw new AgentFailure('unverified', `the response of ${url.pathname} is larger than ${most} bytes`);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }
}

export async function readErrorMessage({ content, drop }: StreamedAnswer): Promise<string | null> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of content) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > MAX_ERROR_BYTES) break;
    }
  } finally {
    await drop();
  }
  return getErrorText(parseJsonObject(Buffer.concat(pieces)));
}

export function getErrorText(body: JsonAnswer['body']): string | null {
  const error = body?.error;
  if (typeof error !== 'object' || error === null || !('message' in error)) return null;
  return typeof error.message === 'string' ? error.message : null;
}

const toBearerHeaders = (token: string | null): Headers => (token === null ? {} : { authorization: `Bearer ${token}` });

export const isTransient = (status: number): boolean => status === 429 || status >= 500;

function parseJsonObject(bytes: Buffer): JsonAnswer['body'] {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** A certificate error may also be caused by a wrong clock. */
const formatClockHint = (error: unknown): string =>
  ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'].includes(getErrorCode(error))
    ? ` (this machine’s clock says ${new Date().toISOString()})`
    : '';

/** Connection failures are exit 8; cancellation by the user is not a network failure. */
function toNetworkFailure(error: unknown, url: URL | null, signal: AbortSignal): unknown {
  if (error instanceof AgentFailure) return error;
  if (signal.reason instanceof AgentFailure) return signal.reason;
  if (signal.aborted) return new AgentFailure('cancelled', 'cancelled', { cause: error });
  const text = error instanceof Error ? error.message || error.name : String(error);
  const cause = error instanceof AggregateError ? error.errors.map(String).join(', ') : text;
  return new AgentFailure(
    'transient',
    `${url === null ? 'the connection was lost' : `${url.origin} cannot be reached`}: ${cause}${formatClockHint(error)}`,
    { cause: error },
  );
}
