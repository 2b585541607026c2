/**
 * What no route of a plugin answers: unknown paths (404), known paths with another method (405 with `Allow`, before any
 * credential is looked at), pre-flights, and errors that hapi makes itself.
 */
import type { Lifecycle, Request, ResponseToolkit, Server } from '@hapi/hapi';
import type { HttpResponse } from '../transport/http-response.js';
import { preflight } from '../transport/cors.js';
import { failureResponse } from './envelope.js';
import { Failure, failureOf, internal, NOT_FOUND, textOf } from './failure.js';
import { requestId } from '../transport/headers.js';
import { notFoundPage, wantsJson } from '../pages/page-route.js';
import type { PageServices } from '../pages/visitor.js';
import { send } from '../transport/send.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const isApi = (path: string): boolean => path === '/api' || path.startsWith('/api/');

/** A browser that asks for a page outside `/api/` gets one, everyone else the envelope. */
const wantsPage = (request: Request): boolean =>
  !isApi(request.path) && (request.raw.req.headers.accept ?? '').includes('text/html') && !wantsJson(request);

export class Fallback {
  constructor(
    private readonly server: Server,
    private readonly shared: PageServices,
  ) {}

  readonly unknown = (request: Request, h: ResponseToolkit): Promise<Lifecycle.ReturnValue> =>
    this.#refuse(request, h, NOT_FOUND, false);

  /** For a known path. @param bare its routes go without the envelope */
  readonly wrongMethod = (bare: boolean, cors: boolean) => (request: Request, h: ResponseToolkit) => {
    const allow = this.#allowed(request.path, cors);
    const message = `${request.raw.req.method ?? 'This method'} is not possible here; ${allow} is.`;
    return this.#refuse(request, h, new Failure('method_not_allowed', message, { headers: { allow } }), bare);
  };

  readonly options = (request: Request, h: ResponseToolkit): Lifecycle.ReturnValue => {
    const methods = this.#allowed(request.path, true).split(', ');
    return send(request, h, this.#id(request), this.shared.headers.api, preflight(methods));
  };

  #id(request: Request): string {
    return requestId(request.raw.req.headers['x-request-id'], this.shared.ids);
  }

  /** `GET, HEAD, POST`: the methods that a route answers under exactly this path. */
  #allowed(path: string, cors: boolean): string {
    const methods = METHODS.filter((method) => {
      const route = this.server.match(method.toLowerCase() as 'get', path);
      return route !== null && route.method === method.toLowerCase();
    }).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    return [...methods, ...(cors ? ['OPTIONS'] : [])].join(', ');
  }

  async #refuse(request: Request, h: ResponseToolkit, failure: Failure, bare: boolean): Promise<Lifecycle.ReturnValue> {
    const id = this.#id(request);
    const page = wantsPage(request);
    const answer: HttpResponse = page
      ? await notFoundPage(this.shared, request, id, failure)
      : failureResponse(failure, id, bare);
    return send(request, h, id, page ? this.shared.headers.page : this.shared.headers.api, answer);
  }

  /** `onPreResponse`: errors of hapi's own become ours; a path that it cannot decode is the one that callers can cause. */
  readonly boom = async (request: Request, h: ResponseToolkit): Promise<Lifecycle.ReturnValue> => {
    const { response } = request;
    if (!('isBoom' in response) || !response.isBoom) return h.continue;
    let failure = failureOf(response);
    if (!failure) {
      // 499: the caller has gone, nobody reads the answer.
      if (response.output.statusCode === 499) return h.continue;
      this.shared.log.error(
        { request_id: this.#id(request), path: request.path, err: response },
        `hapi failed: ${textOf(response)}`,
      );
      failure = internal(response, this.shared.debug);
    }
    const answered = await this.#refuse(request, h, failure, false);
    return answered;
  };
}
