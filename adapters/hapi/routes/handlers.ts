/**
 * Which handler answers which request, by hapi's own router. hapi itself gets only routes for every path, whose handler
 * looks here: it judges the options of each route by a schema of its own, which took a third of every start, and ours
 * have all the same.
 */
import { Router } from '@hapi/call';
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';

export type Handler = (request: Request, h: ResponseToolkit) => Lifecycle.ReturnValue;

export class Handlers {
  readonly #router = new Router<Handler>();

  /** @param method `*`: those that the path does not have otherwise */
  add(method: string, path: string, handler: Handler): void {
    this.#router.add({ method, path }, handler);
  }

  /** Answers a request with the handler of its path. hapi has decoded the path before, and refused what it cannot. */
  readonly handler: Handler = (request, h) => {
    const found = this.#router.route(request.method, request.path);
    if (found instanceof Error) throw found;
    Object.assign(request, { params: found.params });
    return found.route(request, h);
  };
}
