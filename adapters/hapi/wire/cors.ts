/** CORS headers, on intake paths only: any origin, no browser credentials (contract 21). */
import type { HttpResponse } from './http-response.js';

export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-request-id, retry-after, x-sentry-rate-limits, x-sentry-error',
};

export const buildPreflightResponse = (methods: readonly string[]): HttpResponse => ({
  status: 204,
  headers: {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers':
      'authorization, content-type, content-encoding, x-request-id, x-sentry-auth, x-requested-with, sentry-trace, baggage',
    'access-control-max-age': '86400',
  },
  body: null,
});
