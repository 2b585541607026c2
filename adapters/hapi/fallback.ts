/**
 * Handles requests without a plugin route: 404, 405 before any credential is read, preflights and
 * hapi's own errors.
 */
import type { Boom } from '@hapi/boom';
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';
import { getClientNetwork } from '../../lib/addresses.js';
import { parseBearerToken } from './access/authenticate.js';
import { SESSION_COOKIE } from './access/csrf.js';
import { formatPrincipal } from './transport/open-requests.js';
import { getCookie } from './wire/cookies.js';
import type { HttpResponse } from './wire/http-response.js';
import { buildPreflightResponse } from './wire/cors.js';
import { buildFailureResponse } from './wire/envelope.js';
import {
  Failure,
  toFailure,
  createInternalFailure,
  NOT_FOUND,
  PLUGIN_NOT_READY,
  getErrorText,
} from './wire/failure.js';
import { resolveRequestId } from './wire/headers.js';
import { formatAllow, type RegisteredPath } from './path-registry.js';
import { renderNotFoundPage, isJsonPreferred } from './pages/error-page.js';
import type { PageServices } from './pages/visitor.js';

const isApiPath = (path: string): boolean => path === '/api' || path.startsWith('/api/');

/** Whether a browser requests a page outside `/api/`; all other clients get the envelope. */
const wantsPage = (request: Request): boolean =>
  !isApiPath(request.path) && (request.raw.req.headers.accept ?? '').includes('text/html') && !isJsonPreferred(request);

export class FallbackHandlers {
  /** @param unavailable paths of plugins that are not running */
  constructor(
    private readonly shared: PageServices,
    private readonly unavailable: readonly string[] = [],
  ) {}

  readonly handleUnknownPath = (request: Request, h: ResponseToolkit): Promise<Lifecycle.ReturnValue> => {
    const { path } = request;
    const isDown = this.unavailable.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
    return this.#reject(request, h, isDown ? PLUGIN_NOT_READY : NOT_FOUND, false);
  };

  readonly createWrongMethodHandler = (known: RegisteredPath) => {
    const allow = formatAllow(known);
    return (request: Request, h: ResponseToolkit): Promise<Lifecycle.ReturnValue> => {
      const message = `${request.raw.req.method ?? 'This method'} is not allowed here. Use ${allow}.`;
      return this.#reject(
        request,
        h,
        new Failure('method_not_allowed', message, { headers: { allow } }),
        known.bare,
        known.path,
      );
    };
  };

  readonly createOptionsHandler = (known: RegisteredPath) => {
    const methods = formatAllow(known).split(', ');
    return (request: Request, h: ResponseToolkit): Lifecycle.ReturnValue =>
      this.shared.sending.send(
        request,
        h,
        this.#getRequestId(request),
        this.shared.headers.api,
        buildPreflightResponse(methods),
      );
  };

  #getRequestId(request: Request): string {
    return resolveRequestId(request.raw.req.headers['x-request-id'], this.shared.ids);
  }

  #getNetwork({ raw: { req } }: Request): string {
    return getClientNetwork(this.shared.addressOf(req.socket?.remoteAddress, req.headers['x-forwarded-for']));
  }

  async #identifyCaller(request: Request): Promise<string> {
    const { authenticator, requests, secure } = this.shared;
    if (!requests.isLoggingAll) return 'nobody';
    const { authorization, cookie } = request.raw.req.headers;
    const secret = authorization === undefined ? null : parseBearerToken(authorization);
    const session = authorization === undefined ? getCookie(cookie, SESSION_COOKIE, secure) : undefined;
    try {
      const principal =
        secret !== null
          ? await authenticator.authenticateBearer(secret)
          : session
            ? await authenticator.authenticateSession(session)
            : null;
      return principal === null ? 'nobody' : formatPrincipal(principal);
    } catch (err) {
      this.shared.log.debug({ err }, 'the caller of an unknown path could not be identified');
      return 'nobody';
    }
  }

  async #reject(
    request: Request,
    h: ResponseToolkit,
    failure: Failure,
    bare: boolean,
    route: string | null = null,
  ): Promise<Lifecycle.ReturnValue> {
    const id = this.#getRequestId(request);
    const who = await this.#identifyCaller(request);
    this.shared.requests.setDetails(request.raw.req, { id, route, who: () => who });
    const page = wantsPage(request);
    const answer: HttpResponse = page
      ? await this.shared.pageTurns.run(this.#getNetwork(request), () =>
          renderNotFoundPage(this.shared, request, id, failure),
        )
      : buildFailureResponse(failure, id, bare);
    return this.shared.sending.send(request, h, id, page ? this.shared.headers.page : this.shared.headers.api, answer);
  }

  /** Callers can cause only one: a path that hapi cannot decode. */
  readonly handleBoom = async (request: Request, h: ResponseToolkit, error: Boom): Promise<Lifecycle.ReturnValue> => {
    let failure = toFailure(error);
    if (!failure) {
      // 499: the client has disconnected.
      if (error.output.statusCode === 499) return h.continue;
      this.shared.log.error(
        { request_id: this.#getRequestId(request), path: request.path, err: error },
        `hapi failed: ${getErrorText(error)}`,
      );
      failure = createInternalFailure(error, this.shared.debug);
    }
    const answered = await this.#reject(request, h, failure, false);
    return answered;
  };
}
