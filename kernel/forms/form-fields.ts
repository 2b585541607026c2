import type { HttpRequest } from '../../ports/http/index.js';

/** Returns a copy; empty if the request has no body. */
export function getFormFields({ body }: Pick<HttpRequest, 'body'>): Record<string, unknown> {
  return body !== null && typeof body === 'object' ? { ...body } : {};
}
