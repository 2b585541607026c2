/**
 * Requests that are answered before hapi's life cycle, which takes longer than the answer of a route that is asked by
 * every machine (decisions/020). Only the plainest: what asks for compression, conditions, parts, or brings a body goes
 * the whole way, and so does every question that is not well-formed. Both ways answer the same, header by header.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';

export interface DirectRoute {
  /** Answers it; false: hapi shall. */
  direct(req: IncomingMessage, res: ServerResponse, query: Record<string, unknown>): boolean;
}

/** With one of these the answer may be another than the plain one. */
const NOT_PLAIN = [
  'accept-encoding',
  'content-length',
  'expect',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'range',
  'transfer-encoding',
  'upgrade',
] as const satisfies readonly (keyof IncomingHttpHeaders)[];

/** @param routes by their paths. @returns answers a request where it can; false: hapi shall */
export function directly(
  routes: ReadonlyMap<string, DirectRoute>,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  return (req, res) => {
    const { method, url = '', headers } = req;
    if (method !== 'GET') return false;
    const mark = url.indexOf('?');
    const route = routes.get(mark < 0 ? url : url.slice(0, mark));
    if (route === undefined || url.includes('#') || NOT_PLAIN.some((name) => headers[name] !== undefined)) return false;
    // Without a prototype: a parameter may be called `__proto__`.
    const query = Object.assign(
      Object.create(null) as Record<string, unknown>,
      mark < 0 ? {} : parse(url.slice(mark + 1)),
    );
    return route.direct(req, res, query);
  };
}
