/**
 * Which handler answers which request, by hapi's own router. hapi itself gets only routes for every path, whose handler
 * looks here: it judges the options of each route by a schema of its own, which took a third of every start, and ours
 * have all the same.
 */
import { Router } from '@hapi/call';
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';

export type Handler = (request: Request, h: ResponseToolkit) => Lifecycle.ReturnValue;

/** No address of ours: only to read a path as a browser does. */
const SOMEWHERE = 'http://a.invalid';

export class Handlers {
  readonly #router = new Router<Handler>();
  /** Those of GET that show a page. */
  readonly #pages = new Set<Handler>();

  /** @param method `*`: those that the path does not have otherwise */
  add(method: string, path: string, handler: Handler, showsPage = false): void {
    this.#router.add({ method, path }, handler);
    // A list for hapi alone, which sorts it anew with each route: a third of all mounting.
    this.#router.routes.get(method.toLowerCase())?.routes.splice(0);
    if (showsPage) this.#pages.add(handler);
  }

  /**
   * Whether GET serves a page there: no file, nothing of the API, no path that takes POST alone, no other host.
   * @param location that somebody named: path, query, fragment
   */
  readonly servesPage = (location: string): boolean => {
    if (!location.startsWith('/') || !URL.canParse(location, SOMEWHERE)) return false;
    // `/bugs/%2e%2e/logout` is `/logout` to a browser.
    const { origin, pathname } = new URL(location, SOMEWHERE);
    const found = origin === SOMEWHERE ? this.#router.route('get', pathname) : null;
    return found !== null && !(found instanceof Error) && this.#pages.has(found.route);
  };

  /** Answers a request with the handler of its path. hapi has decoded the path before, and refused what it cannot. */
  readonly handler: Handler = (request, h) => {
    const found = this.#router.route(request.method, request.path);
    if (found instanceof Error) throw found;
    Object.assign(request, { params: found.params });
    return found.route(request, h);
  };
}
