/**
 * Sends one HTTP request by Node's own client, through the proxy that the environment names. `fetch` and undici are
 * no alternative for large bodies: on Node 20 they end the process with an uncaught assertion when a server closes
 * the connection while the reader is behind. `fetch` also ignores proxies there.
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
  /** Names the proxy. */
  env: Parameters<typeof getProxyForUrl>[1];
  /** Trusted certificate authorities in PEM; Node's own where it is absent. */
  ca?: readonly string[];
  /** Longest silence of the connection before the response, counted from the last byte that was sent. */
  responseTimeoutMs: number;
  /** Longest silence within the response's body. */
  bodyTimeoutMs: number;
  signal?: AbortSignal;
}

export interface ReceivedResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** Must be read to its end or destroyed; a cut connection is an error of its reader. */
  body: IncomingMessage;
}

/**
 * Sends a request and returns its response as soon as the headers are there. Redirects are returned, not followed.
 * Certificates are always verified, whatever `NODE_TLS_REJECT_UNAUTHORIZED` says.
 * @throws InvalidProxy, or the network's error
 */
export async function sendRequest(url: URL, options: RequestOptions): Promise<ReceivedResponse> {
  const { method = 'GET', headers, body, signal, responseTimeoutMs, bodyTimeoutMs, ca } = options;
  const tls = { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca: [...ca] }) };
  const agent = await createProxyAgent(url, options.env, tls);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const request = send(url, { method, headers, timeout: responseTimeoutMs, ...tls, agent, signal });
  request.on('timeout', () => request.destroy(new Error(`no response within ${responseTimeoutMs} ms`)));
  // After the response its reader reports what breaks.
  request.on('error', () => undefined);
  const responded = once(request, 'response') as Promise<[IncomingMessage]>;
  if (typeof body === 'object' && !(body instanceof Uint8Array)) {
    // A server may answer, and close, before it has read the whole body: then the answer counts.
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

/** `false`: a connection of its own, without a proxy. */
async function createProxyAgent(url: URL, env: RequestOptions['env'], tls: object): Promise<Agent | false> {
  const proxy = getProxyForUrl(url, env);
  if (proxy === null) return false;
  if (url.protocol === 'https:') return new (await import('https-proxy-agent')).HttpsProxyAgent(proxy, tls);
  return new (await import('http-proxy-agent')).HttpProxyAgent(proxy, tls);
}
