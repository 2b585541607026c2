/** Load from one process over loopback, bounded in time, with what it saw. */
import autocannon from 'autocannon';

export interface Load {
  perSecond: number;
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
  headers?: Record<string, string>;
  connections?: number;
  seconds: number;
}): Promise<Load> {
  const requests = (options.bodies ?? ['']).map((body, i) => {
    const request: autocannon.Request = {
      method: options.method,
      path: options.paths?.[i % options.paths.length] ?? '/',
      headers: options.headers,
    };
    if (body !== '') {
      request.body = body;
      request.headers = { ...options.headers, 'content-type': 'application/json' };
    }
    return request;
  });
  const result = await autocannon({
    url: options.url,
    connections: options.connections ?? 16,
    duration: options.seconds,
    requests,
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
