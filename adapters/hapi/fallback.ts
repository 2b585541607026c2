/**
 * Handles requests without a plugin route: unknown paths (404), other methods (405 with `Allow`,
 * before any credential is read), preflights and hapi's own errors.
 */
import type { Boom } from '@hapi/boom';
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';
import { getClientNetwork } from '../../lib/addresses.js';
import { bearerOf } from './access/authenticate.js';
import { SESSION_COOKIE } from './access/csrf.js';
import { whoIs } from './transport/open-requests.js';
import { cookieOf } from './wire/cookies.js';
import type { HttpResponse } from './wire/http-response.js';
import { preflight } from './wire/cors.js';
import { failureResponse } from './wire/envelope.js';
import { Failure, failureOf, internal, NOT_FOUND, PLUGIN_NOT_READY, textOf } from './wire/failure.js';
import { requestId } from './wire/headers.js';
import { allowOf, type KnownPath } from './known-paths.js';
import { notFoundPage, wantsJson } from './pages/refusal-page.js';
import type { PageServices } from './pages/visitor.js';

const isApi = (path: string): boolean => path === '/api' || path.startsWith('/api/');

/** Whether a browser requests a page outside `/api/`; all other clients get the envelope. */
const wantsPage = (request: Request): boolean =>
  !isApi(request.path) && (request.raw.req.headers.accept ?? '').includes('text/html') && !wantsJson(request);

export class Fallback {
  /** @param unavailable paths of plugins that are not running */
  constructor(
    private readonly shared: PageServices,
    private readonly unavailable: readonly string[] = [],
  ) {}

  readonly unknown = (request: Request, h: ResponseToolkit): Promise<Lifecycle.ReturnValue> => {
    const { path } = request;
    const isDown = this.unavailable.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
    return this.#refuse(request, h, isDown ? PLUGIN_NOT_READY : NOT_FOUND, false);
  };

  readonly wrongMethod = (known: KnownPath) => {
    const allow = allowOf(known);
    return (request: Request, h: ResponseToolkit): Promise<Lifecycle.ReturnValue> => {
      const message = `${request.raw.req.method ?? 'This method'} is not possible here; ${allow} is.`;
      return this.#refuse(
        request,
        h,
        new Failure('method_not_allowed', message, { headers: { allow } }),
        known.bare,
        known.path,
      );
    };
  };

  readonly options = (known: KnownPath) => {
    const methods = allowOf(known).split(', ');
    return (request: Request, h: ResponseToolkit): Lifecycle.ReturnValue =>
      this.shared.sending.send(request, h, this.#id(request), this.shared.headers.api, preflight(methods));
  };

  #id(request: Request): string {
    return requestId(request.raw.req.headers['x-request-id'], this.shared.ids);
  }

  #network({ raw: { req } }: Request): string {
    return getClientNetwork(this.shared.addressOf(req.socket?.remoteAddress, req.headers['x-forwarded-for']));
  }

  async #who(request: Request): Promise<string> {
    const { authenticator, requests, secure } = this.shared;
    if (!requests.logsAll) return 'nobody';
    const { authorization, cookie } = request.raw.req.headers;
    const secret = authorization === undefined ? null : bearerOf(authorization);
    const session = authorization === undefined ? cookieOf(cookie, SESSION_COOKIE, secure) : undefined;
    try {
      const principal =
        secret !== null ? await authenticator.bearer(secret) : session ? await authenticator.session(session) : null;
      return principal === null ? 'nobody' : whoIs(principal);
    } catch (err) {
      this.shared.log.debug({ err }, 'the caller of a path without a route is not known');
      return 'nobody';
    }
  }

  async #refuse(
    request: Request,
    h: ResponseToolkit,
    failure: Failure,
    bare: boolean,
    route: string | null = null,
  ): Promise<Lifecycle.ReturnValue> {
    const id = this.#id(request);
    const who = await this.#who(request);
    this.shared.requests.known(request.raw.req, { id, route, who: () => who });
    const page = wantsPage(request);
    const answer: HttpResponse = page
      ? await this.shared.pageTurns.run(this.#network(request), () => notFoundPage(this.shared, request, id, failure))
      : failureResponse(failure, id, bare);
    return this.shared.sending.send(request, h, id, page ? this.shared.headers.page : this.shared.headers.api, answer);
  }

  /**
   * `onPreResponse`: converts hapi's errors. Callers can cause only one: a path that hapi cannot
   * decode.
   */
  readonly boom = async (request: Request, h: ResponseToolkit, error: Boom): Promise<Lifecycle.ReturnValue> => {
    let failure = failureOf(error);
    if (!failure) {
      // 499: the client has disconnected.
      if (error.output.statusCode === 499) return h.continue;
      this.shared.log.error(
        { request_id: this.#id(request), path: request.path, err: error },
        `hapi failed: ${textOf(error)}`,
      );
      failure = internal(error, this.shared.debug);
    }
    const answered = await this.#refuse(request, h, failure, false);
    return answered;
  };
}
