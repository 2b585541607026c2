/** Load from one process over loopback, bounded in time, with what it saw. */
import autocannon from 'autocannon';

export interface Load {
  perSecond: number;
  /** How long it took, where that is not what was asked for. */
  seconds?: number;
  p50: number;
  p99: number;
  non2xx: number;
  errors: number;
}

export async function load(options: {
  url: string;
  method: 'GET' | 'POST';
  paths?: string[];
  bodies?: string[];
  /** Makes every body anew; wins over `bodies`. */
  source?: () => string;
  type?: string;
  headers?: Record<string, string>;
  connections?: number;
  /** Requests a second over all connections; left out: as many as are answered. */
  rate?: number;
  seconds: number;
}): Promise<Load> {
  const { paths = ['/'], bodies = [''] } = options;
  const requests = Array.from({ length: Math.max(paths.length, bodies.length) }, (_, i) => {
    const body = bodies[i % bodies.length] ?? '';
    const request: autocannon.Request = {
      method: options.method,
      path: paths[i % paths.length] ?? '/',
      headers: options.headers,
    };
    const type = { 'content-type': options.type ?? 'application/json' };
    if (body !== '') request.body = body;
    if (body !== '' || options.source !== undefined) request.headers = { ...options.headers, ...type };
    const { source } = options;
    if (source !== undefined) request.setupRequest = (next) => ({ ...next, body: source() });
    return request;
  });
  const connections = options.connections ?? 16;
  let opened = 0;
  const result = await autocannon({
    url: options.url,
    connections,
    duration: options.seconds,
    ...(options.rate === undefined ? {} : { overallRate: options.rate }),
    requests,
    // Each connection begins elsewhere: side by side they would send the same body at the same moment, again and again.
    setupClient: (client) => {
      const start = Math.floor((opened++ * requests.length) / connections);
      client.setRequests([...requests.slice(start), ...requests.slice(0, start)]);
    },
  });
  return {
    perSecond: result.requests.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
    non2xx: result.non2xx,
    errors: result.errors,
  };
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
};
