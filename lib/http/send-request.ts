/**
 * On Node 20, `fetch` and undici crash when a server closes the connection while the reader is
 * behind; `fetch` ignores proxies.
 */
import { once } from 'node:events';
import { request as requestHttp, type Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { getProxyForUrl } from './proxy.js';

export interface RequestOptions {
  method?: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  env: Parameters<typeof getProxyForUrl>[1];
  /** Trusted certificate authorities, PEM; default: Node's. */
  ca?: readonly string[];
  /** Idle timeout before the response, since the last byte sent. */
  responseTimeoutMs: number;
  /** Idle timeout within the response body. */
  bodyTimeoutMs: number;
  signal?: AbortSignal;
}

export interface ReceivedResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** Must be consumed or destroyed; a cut connection fails the reader. */
  body: IncomingMessage;
}

/**
 * Returns after the headers. No redirects; certificates are verified despite
 * `NODE_TLS_REJECT_UNAUTHORIZED`.
 * @throws InvalidProxyVariable, or a network error
 */
export async function sendRequest(url: URL, options: RequestOptions): Promise<ReceivedResponse> {
  const { method = 'GET', headers, body, signal, responseTimeoutMs, bodyTimeoutMs, ca } = options;
  const tls = { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca: [...ca] }) };
  const agent = await createProxyAgent(url, options.env, tls);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const request = send(url, { method, headers, timeout: responseTimeoutMs, ...tls, agent, signal });
  request.on('timeout', () => request.destroy(new Error(`no response within ${responseTimeoutMs} ms`)));
  // Later errors reach the body's reader.
  request.on('error', () => undefined);
  const responded = once(request, 'response') as Promise<[IncomingMessage]>;
  if (typeof body === 'object' && !(body instanceof Uint8Array)) {
    // A server may respond before reading the whole body.
    const sent = pipeline(Readable.from(body, { objectMode: false }), request);
    sent.catch(() => undefined);
    const [response] = await Promise.race([responded, sent.then(() => responded)]);
    return toResponse(response, bodyTimeoutMs);
  }
  request.end(body);
  const [response] = await responded;
  return toResponse(response, bodyTimeoutMs);
}

function toResponse(response: IncomingMessage, bodyTimeoutMs: number): ReceivedResponse {
  response.setTimeout(bodyTimeoutMs, () => response.destroy(new Error(`no data for ${bodyTimeoutMs} ms`)));
  return { status: response.statusCode ?? 0, headers: response.headers, body: response };
}

/** Returns `false` for a separate, direct connection. */
async function createProxyAgent(url: URL, env: RequestOptions['env'], tls: object): Promise<Agent | false> {
  const proxy = getProxyForUrl(url, env);
  if (proxy === null) return false;
  if (url.protocol === 'https:') return new (await import('https-proxy-agent')).HttpsProxyAgent(proxy, tls);
  return new (await import('http-proxy-agent')).HttpProxyAgent(proxy, tls);
}
