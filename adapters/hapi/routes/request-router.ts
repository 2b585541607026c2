/**
 * Dispatches requests with hapi's own router. hapi itself gets only catch-all routes, because it
 * validates the options of each route, which slows the start.
 */
import { Router } from '@hapi/call';
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';

export type RequestHandler = (request: Request, h: ResponseToolkit) => Lifecycle.ReturnValue;

/** Only used to resolve paths as browsers do. */
const PLACEHOLDER_ORIGIN = 'http://a.invalid';

export class RequestRouter {
  readonly #router = new Router<RequestHandler>();
  readonly #pages = new Set<RequestHandler>();

  add(method: string, path: string, handler: RequestHandler, showsPage = false): void {
    this.#router.add({ method, path }, handler);
    // hapi would sort its list again for each route.
    this.#router.routes.get(method.toLowerCase())?.routes.splice(0);
    if (showsPage) this.#pages.add(handler);
  }

  /** @param location external input: path, query and fragment */
  readonly servesPage = (location: string): boolean => {
    if (!location.startsWith('/') || !URL.canParse(location, PLACEHOLDER_ORIGIN)) return false;
    // `/bugs/%2e%2e/logout` is `/logout` to a browser.
    const { origin, pathname } = new URL(location, PLACEHOLDER_ORIGIN);
    const found = origin === PLACEHOLDER_ORIGIN ? this.#router.route('get', pathname) : null;
    return found !== null && !(found instanceof Error) && this.#pages.has(found.route);
  };

  readonly handler: RequestHandler = (request, h) => {
    const found = this.#router.route(request.method, request.path);
    if (found instanceof Error) throw found;
    Object.assign(request, { params: found.params });
    return found.route(request, h);
  };
}
