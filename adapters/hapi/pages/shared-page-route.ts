/** Cached responses bypass rate limiting. */
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';
import { SingleFlight } from '../../../lib/single-flight.js';
import { Redirect, Reply, SharedBytes, type MountedPage, type PageResult } from '../../../ports/http/index.js';
import { validateParams, createParamsSchema } from '../validation/validators.js';
import type { ObserveRequest } from '../transport/request-metrics.js';
import { toSuccessJson } from '../wire/envelope.js';
import {
  Failure,
  createInternalFailure,
  NOT_FOUND,
  OVERLOADED,
  PLUGIN_NOT_READY,
  STOPPING,
  getErrorText,
} from '../wire/failure.js';
import { validateHeaders, resolveRequestId } from '../wire/headers.js';
import type { HttpResponse } from '../wire/http-response.js';
import { IncomingRequest } from '../wire/incoming-request.js';
import { buildRedirectResponse } from '../wire/redirect.js';
import { renderErrorPage } from './error-page.js';
import { PageRoute } from './page-route.js';
import { HTML_TYPE, ANONYMOUS_VISITOR, type PageServices } from './visitor.js';

export class SharedPageRoute {
  readonly #params: ReturnType<typeof createParamsSchema>;
  readonly #observe: ObserveRequest;
  readonly #personal: PageRoute | null;
  readonly #checks = new SingleFlight<boolean>();

  constructor(
    private readonly mounted: MountedPage,
    private readonly maxAgeMs: number,
    private readonly shared: PageServices,
  ) {
    const { spec } = mounted;
    this.#personal = spec.shared?.personal === undefined ? null : new PageRoute(mounted, shared);
    this.#params = createParamsSchema(spec.input?.params);
    this.#observe = shared.timings.createObserver(['GET'], spec.path, 'page');
  }

  readonly handler = async (request: Request, h: ResponseToolkit): Promise<Lifecycle.ReturnValue> => {
    const { shared } = this;
    if (this.#personal !== null && (await this.#isPersonal(request))) return this.#personal.handler(request, h);
    const began = shared.clock.monotonic();
    const id = resolveRequestId(request.raw.req.headers['x-request-id'], shared.ids);
    shared.requests.setDetails(request.raw.req, { id, route: this.mounted.spec.path, who: () => 'nobody' });
    const requestParts = { raw: request.raw, path: request.path, params: request.params as unknown, query: {} };
    const call = new SharedRequest(id, requestParts, shared.addressOf, shared.secure);
    const answer = await shared.sharedPages.getOrRender(request.path, this.maxAgeMs, () => this.#answer(request, call));
    this.#observe(request.method, answer.status, shared.clock.monotonic() - began);
    return shared.sending.send(request, h, id, shared.headers.page, answer);
  };

  async #isPersonal({ path, params: given }: Request): Promise<boolean> {
    if (this.shared.sharedPages.isFresh(path)) return false;
    const { spec, ready } = this.mounted;
    const params = ready() ? validateParams(this.#params, given as Record<string, string>) : null;
    if (params === null) return false;
    try {
      return await this.#checks.share(path, async () => (await spec.shared?.personal?.(params)) ?? false);
    } catch {
      // The handler encounters the same error and reports it.
      return false;
    }
  }

  async #answer(request: Request, call: IncomingRequest): Promise<HttpResponse> {
    const { inFlight } = this.shared;
    const place = inFlight.stopping ? null : inFlight.acquire(call.network);
    if (place === null) return this.#renderRejection(inFlight.stopping ? STOPPING : OVERLOADED, request, call);
    try {
      const result = await this.#run(request, call);
      return result instanceof Failure
        ? await this.#renderRejection(result, request, call)
        : await this.#render(result);
    } catch (thrown) {
      return await this.#renderRejection(this.#toFailure(thrown, call), request, call);
    } finally {
      place.release();
    }
  }

  async #run(request: Request, call: IncomingRequest): Promise<PageResult | Failure> {
    const { spec, ready } = this.mounted;
    const { limits, sharedPages } = this.shared;
    if (!ready()) return PLUGIN_NOT_READY;
    const limited = sharedPages.isCached(request.path) ? null : limits.checkOpenRequest('rest', call.network);
    if (limited !== null) return limited;
    const params = validateParams(this.#params, call.params);
    if (params === null) return NOT_FOUND;
    call.params = params;
    return spec.handle(call);
  }

  async #render(result: PageResult): Promise<HttpResponse> {
    if (result instanceof Redirect) return buildRedirectResponse(result, this.shared);
    const headers = validateHeaders(result.headers);
    if (result instanceof Reply) {
      const { status, body } = result;
      const raw = body === null || typeof body === 'string' || Buffer.isBuffer(body) || body instanceof SharedBytes;
      return { status, headers, body: raw ? body : toSuccessJson(body) };
    }
    const html = await this.shared.views.render(this.mounted.views, result.template, result.context, null);
    return { status: result.status, headers: { ...headers, 'content-type': HTML_TYPE }, body: Buffer.from(html) };
  }

  #toFailure(thrown: unknown, { id }: IncomingRequest): Failure {
    const { codes, log, debug } = this.shared;
    const { plugin, spec } = this.mounted;
    const classified = codes.classify(thrown, plugin);
    if ('failure' in classified) return classified.failure;
    const what = { request_id: id, page: spec.path, plugin, err: classified.fault };
    log.error(what, `a page failed: ${getErrorText(classified.fault)}`);
    return createInternalFailure(classified.fault, debug);
  }

  #renderRejection(failure: Failure, request: Request, call: IncomingRequest): Promise<HttpResponse> {
    return renderErrorPage(this.shared, request, call, ANONYMOUS_VISITOR, failure);
  }
}

/** A request for a shared response: the handler sees nothing specific to a visitor. */
class SharedRequest extends IncomingRequest {
  override get cookies(): Readonly<Record<string, string>> {
    return {};
  }
}
