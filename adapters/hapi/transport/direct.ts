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

/** False: with one of these the answer may be another than the plain one. Named one by one, which is quickest. */
const isPlain = (headers: IncomingHttpHeaders): boolean =>
  headers['accept-encoding'] === undefined &&
  headers['content-length'] === undefined &&
  headers['expect'] === undefined &&
  headers['if-match'] === undefined &&
  headers['if-modified-since'] === undefined &&
  headers['if-none-match'] === undefined &&
  headers['if-unmodified-since'] === undefined &&
  headers['range'] === undefined &&
  headers['transfer-encoding'] === undefined &&
  headers['upgrade'] === undefined;

/** @param routes by their paths. @returns answers a request where it can; false: hapi shall */
export function directly(
  routes: ReadonlyMap<string, DirectRoute>,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  return (req, res) => {
    const { method, url = '', headers } = req;
    if (method !== 'GET') return false;
    const mark = url.indexOf('?');
    const route = routes.get(mark < 0 ? url : url.slice(0, mark));
    if (route === undefined || url.includes('#') || !isPlain(headers)) return false;
    // What `parse` makes has no prototype: a parameter may be called `__proto__`.
    return route.direct(req, res, parse(mark < 0 ? '' : url.slice(mark + 1)));
  };
}
