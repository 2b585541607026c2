/**
 * Answers requests before hapi's life cycle, on the routes with the most calls (decisions/020). The route is the same
 * code on both ways. Every step of hapi is either done here, header by header, or not needed: conditions, parts,
 * upgrades, `Expect`, other methods and addresses that are not written plainly take the way through hapi. An answer to
 * compress is handed to hapi when it is made.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import type { HttpMethod } from '../../../ports/http.js';
import type { Requested } from '../wire/incoming-request.js';

export interface DirectRoute {
  /**
   * Answers a request.
   * @param hapi takes the request over, with the answer that `handler` will find
   * @returns false: the request is hapi's from the beginning, and nothing was counted
   */
  direct(asked: Requested, hapi: () => void): boolean;
}

/**
 * A route whose path has parameters. Only numbers are taken for them: they need no decoding, and never name another
 * route.
 */
interface Pattern {
  route: DirectRoute;
  method: string;
  shape: RegExp;
  names: readonly string[];
}

/** False: one of these headers may change the answer. They are named one by one, which is quickest. */
const isPlain = (headers: IncomingHttpHeaders): boolean =>
  headers['expect'] === undefined &&
  headers['if-match'] === undefined &&
  headers['if-modified-since'] === undefined &&
  headers['if-none-match'] === undefined &&
  headers['if-unmodified-since'] === undefined &&
  headers['range'] === undefined &&
  headers['upgrade'] === undefined;

/** A text as an expression that matches only this text. */
const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]|]/g, String.raw`\$&`);

export class DirectRoutes {
  readonly #exact = new Map<string, DirectRoute>();
  readonly #patterns: Pattern[] = [];

  add(method: HttpMethod, path: string, route: DirectRoute): void {
    if (!path.includes('{')) return void this.#exact.set(`${method} ${path}`, route);
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
    const words = path.split(/\{\w+\}/);
    // Optional parameters, and those for several segments or a part of one, are left to hapi.
    if (!/^(?:\/(?:[^/{}]*|\{\w+\}))+$/.test(path)) return;
    const shape = new RegExp(`^${words.map(literal).join(String.raw`(\d{1,9})`)}$`);
    this.#patterns.push({ route, method, shape, names });
  }

  /** Answers a request where possible. False: hapi shall answer. @param hapi takes a request over */
  answer(
    req: IncomingMessage,
    res: ServerResponse,
    hapi: (req: IncomingMessage, res: ServerResponse) => void,
  ): boolean {
    const { method = '', url = '', headers } = req;
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const found = this.#find(method, path);
    if (found === null || url.includes('#') || !isPlain(headers)) return false;
    // The object from `parse` has no prototype: a parameter may be called `__proto__`.
    const query = parse(mark < 0 ? '' : url.slice(mark + 1));
    return found.route.direct({ raw: { req, res }, path, params: found.params, query }, () => hapi(req, res));
  }

  #find(method: string, path: string): { route: DirectRoute; params: Record<string, string> } | null {
    const exact = this.#exact.get(`${method} ${path}`);
    if (exact !== undefined) return { route: exact, params: {} };
    for (const { route, method: own, shape, names } of this.#patterns) {
      const match = own === method ? shape.exec(path) : null;
      if (match !== null)
        return { route, params: Object.fromEntries(names.map((name, i) => [name, match[i + 1] ?? ''])) };
    }
    return null;
  }
}
