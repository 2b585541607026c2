/** Without a session, a page redirects to the login and a form is rejected. */
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';
import {
  Redirect,
  Reply,
  SharedBytes,
  View,
  type MountedPage,
  type PageResult,
  type Role,
} from '../../../ports/http/index.js';
import type { HttpResponse } from '../wire/http-response.js';
import { IncomingRequest } from '../wire/incoming-request.js';
import { formatSetCookie } from '../wire/cookies.js';
import { authenticateBasic } from '../access/basic.js';
import { isValidCsrfToken, maskToken, SESSION_COOKIE } from '../access/csrf.js';
import { reportDenial } from '../access/denial-report.js';
import { JSON_TYPE, toSuccessJson } from '../wire/envelope.js';
import {
  toServiceError,
  Failure,
  createInternalFailure,
  NOT_FOUND,
  OVERLOADED,
  PLUGIN_NOT_READY,
  STOPPING,
  getErrorText,
} from '../wire/failure.js';
import { AccessPolicy, SECOND_FACTOR_REQUIRED, UNAUTHORIZED } from '../access/access-policy.js';
import { PageFormReader } from './page-forms.js';
import { buildExpiredSessionView } from './expired-session.js';
import { runIdempotentForm, ForeignView, redirectToStoredView } from './form-idempotency.js';
import { validateHeaders, resolveRequestId } from '../wire/headers.js';
import { buildLoginLocation, buildRedirectResponse, getSearch } from '../wire/redirect.js';
import type { RequestSlot } from '../limits/requests-in-flight.js';
import { releaseWhileReading } from '../routes/request-body.js';
import { toBodySender } from '../routes/caller-keys.js';
import { formatPrincipal } from '../transport/open-requests.js';
import type { ObserveRequest } from '../transport/request-metrics.js';
import { applyChosenProject, findChosenProject } from './project-choice.js';
import {
  renderErrorPage,
  buildFormErrorResponse,
  buildRejectedFormContext,
  isJsonPreferred,
  toReadableFailure,
} from './error-page.js';
import {
  buildViewContext,
  buildCookieHeader,
  HTML_TYPE,
  ANONYMOUS_VISITOR,
  resolveVisitor,
  type PageServices,
  type PageVisitor,
} from './visitor.js';
import { answerIfVerified } from '../limits/verified-answer.js';
import { validateParams, createParamsSchema, QueryValidator } from '../validation/validators.js';

export class PageRoute {
  readonly #policy: AccessPolicy;
  readonly #query: QueryValidator;
  readonly #params: ReturnType<typeof createParamsSchema>;
  readonly #isForm: boolean;
  readonly #forms: PageFormReader;
  readonly #observe: ObserveRequest;

  constructor(
    private readonly mounted: MountedPage,
    private readonly shared: PageServices,
  ) {
    this.#policy = new AccessPolicy(mounted.spec.access, false, mounted.spec.duringEnrollment);
    this.#query = new QueryValidator(mounted.spec.input?.query, false);
    this.#params = createParamsSchema(mounted.spec.input?.params);
    this.#isForm = mounted.spec.method === 'POST';
    this.#forms = new PageFormReader(mounted.spec, this.#policy, shared);
    this.#observe = shared.timings.createObserver([mounted.spec.method ?? 'GET'], mounted.spec.path, 'page');
  }

  readonly handler = async (request: Request, h: ResponseToolkit): Promise<Lifecycle.ReturnValue> => {
    const { shared } = this;
    const began = shared.clock.monotonic();
    const id = resolveRequestId(request.raw.req.headers['x-request-id'], shared.ids);
    const call = new IncomingRequest(id, request, shared.addressOf, shared.secure);
    const route = this.mounted.spec.path;
    shared.requests.setDetails(request.raw.req, { id, route, who: () => formatPrincipal(call.principal) });
    const answer = await this.#answer(request, call);
    this.#observe(request.method, answer.status, shared.clock.monotonic() - began);
    return shared.sending.send(request, h, id, shared.headers.page, answer);
  };

  async #answer(request: Request, call: IncomingRequest): Promise<HttpResponse> {
    const { shared } = this;
    if (shared.inFlight.stopping) return renderErrorPage(shared, request, call, ANONYMOUS_VISITOR, STOPPING);
    let visitor = ANONYMOUS_VISITOR;
    try {
      visitor = await resolveVisitor(shared, request);
    } catch (thrown) {
      return this.#renderFailure(thrown, request, call, visitor);
    }
    const serve = (): Promise<HttpResponse> => this.#serve(request, call, visitor);
    // Addresses alternate, so that hundreds of connections of one do not delay others. A form holds
    // no slot while it arrives.
    return visitor.session !== null || this.#isForm ? serve() : shared.pageTurns.run(call.network, serve);
  }

  async #serve(request: Request, call: IncomingRequest, visitor: PageVisitor): Promise<HttpResponse> {
    const { inFlight } = this.shared;
    const place = inFlight.stopping ? null : inFlight.acquire(this.#policy.public ? call.network : null);
    if (place === null)
      return renderErrorPage(this.shared, request, call, visitor, inFlight.stopping ? STOPPING : OVERLOADED);
    try {
      const result = this.#countFailedLogin(await this.#run(request, call, visitor, place), call);
      if (result instanceof Failure) {
        reportDenial(this.shared.authenticator, result, this.mounted.spec.path, call);
        return await this.#renderRejection(result, request, call, visitor);
      }
      if (result instanceof View && result.refusal !== null && isJsonPreferred(request))
        return buildFormErrorResponse(result, call.id);
      return await this.#render(result, call, visitor);
    } catch (thrown) {
      return await this.#renderFailure(thrown, request, call, visitor);
    } finally {
      place.release();
      call.releaseBody();
    }
  }

  async #run(
    request: Request,
    call: IncomingRequest,
    visitor: PageVisitor,
    place: RequestSlot,
  ): Promise<PageResult | Failure> {
    const { spec, ready } = this.mounted;
    const { session } = visitor;
    if (!ready()) return PLUGIN_NOT_READY;
    if (session) call.setPrincipal(session, () => this.#reauthorize(request));
    else if (!this.#policy.public) {
      if (isJsonPreferred(request)) return SESSION_ENDED;
      if (this.#isForm) return this.#buildExpiredSession(request, call, visitor, place);
      return new Redirect(buildLoginLocation(request.path, getSearch(request.raw.req.url)));
    }
    if (session?.must_enroll && this.#policy.check(session) === SECOND_FACTOR_REQUIRED && !this.#policy.public)
      return this.#isForm || isJsonPreferred(request) ? SECOND_FACTOR_REQUIRED : new Redirect(ENROLLMENT_PATH);
    const { limits } = this.shared;
    const limited = this.#policy.public
      ? limits.checkOpenRequest(spec.limits?.bucket ?? 'rest', call.network)
      : limits.check('api', toBodySender(call).key);
    if (limited === null) return await this.#runAdmitted(request, call, visitor, place);
    const proves = spec.limits?.proves;
    return proves === undefined
      ? limited
      : answerIfVerified<PageResult | Failure>(limited, this.shared, {
          answer: () => this.#runAdmitted(request, call, visitor, place),
          proves: (answer) => (answer instanceof Failure ? null : proves(call, answer)),
        });
  }

  /** @throws ServiceError unauthorized, role_not_allowed */
  async #reauthorize(request: Request): Promise<void> {
    const { session } = await resolveVisitor(this.shared, request);
    const failure = session === null ? UNAUTHORIZED : this.#policy.check(session);
    if (failure) throw toServiceError(failure);
  }

  async #runAdmitted(
    request: Request,
    call: IncomingRequest,
    visitor: PageVisitor,
    place: RequestSlot,
  ): Promise<PageResult | Failure> {
    const [{ spec }, { session }] = [this.mounted, visitor];
    const unfit = spec.upload === undefined ? null : this.#policy.check(call.principal);
    if (unfit) return unfit;
    const form = this.#isForm ? await this.#forms.read(request, call, visitor, place) : null;
    if (form instanceof Failure) return form;
    const accessDenial = this.#policy.public ? null : this.#policy.check(call.principal);
    if (accessDenial) return accessDenial;
    const params = validateParams(this.#params, call.params);
    if (params === null) return NOT_FOUND;
    call.params = params;
    const query = this.#query.validate(await applyChosenProject(this.shared.projects, visitor, spec, call));
    if (query instanceof Failure) return toReadableFailure(query, call.query);
    call.query = query.value;
    const denied = await this.#checkBasic(call);
    if (denied !== null) return denied;
    // Concurrently with the page, after its own queries.
    if (!this.#isForm) {
      const handled = spec.handle(call);
      if (session) void this.#prefetchBadges(session.role, visitor);
      return handled;
    }
    const { forms, texts } = this.shared;
    const published = this.#policy.public || spec.upload !== undefined ? null : await texts.check(call);
    if (published) return published;
    // The form may have taken a long time.
    if (call.isStale) await call.reauthorize();
    const handled = async (): Promise<PageResult> => {
      const result = await spec.handle(call);
      return session && forms
        ? redirectToStoredView(forms, session, { plugin: this.mounted.plugin, title: spec.title }, result)
        : result;
    };
    try {
      if (spec.creates !== true || !session || !forms) return await handled();
      const { path, body: fields } = call;
      return await runIdempotentForm(forms, session, { path, formId: form?.id, fields: fields as object }, handled);
    } finally {
      this.shared.navigation.invalidateBadges();
    }
  }

  /**
   * Checks the `Authorization` header of a page with HTTP Basic and returns the failure, if any.
   */
  async #checkBasic(call: IncomingRequest): Promise<Failure | null> {
    const { basic } = this.mounted.spec;
    const { authorization } = call.rawHeaders;
    if (basic === undefined || authorization === undefined) return null;
    const authResult = await authenticateBasic(basic, call, authorization);
    if (authResult instanceof Failure) return authResult;
    call.principal = authResult;
    return null;
  }

  /**
   * The CSRF token proves that the form came from a page of this session (contract 80, conduct).
   */
  async #buildExpiredSession(
    request: Request,
    call: IncomingRequest,
    visitor: PageVisitor,
    place: RequestSlot,
  ): Promise<View | Failure> {
    const { limits, bodies, authenticator } = this.shared;
    const cookie = visitor.cookies[SESSION_COOKIE];
    if (cookie === undefined) return SESSION_ENDED;
    const limited = limits.checkOpenRequest('login', call.network);
    if (limited) return limited;
    const form = await releaseWhileReading(place, () =>
      bodies.readForm(request.raw.req, toBodySender(call), call.retainBody),
    );
    if (form instanceof Failure) return SESSION_ENDED;
    const { csrf_token, ...fields } = form;
    if (!isValidCsrfToken(authenticator, csrf_token, [cookie])) return SESSION_ENDED;
    const path = `${request.path}${getSearch(request.raw.req.url)}`;
    return buildExpiredSessionView({ path, fields }, (text) => authenticator.getCsrfToken(text)) ?? SESSION_ENDED;
  }

  /** Over the limit the answer is 429 (contract 00, limits). */
  #countFailedLogin(result: PageResult | Failure, call: IncomingRequest): PageResult | Failure {
    const status = result instanceof Failure || result instanceof View ? result.status : 200;
    const isBasic = this.mounted.spec.basic !== undefined && call.rawHeaders['authorization'] !== undefined;
    const isGuess = this.#isForm || isBasic;
    if (status !== 401 || !isGuess || !this.#policy.public) return result;
    const { failures } = this.shared.limits;
    const key = call.network;
    return failures.take(key) ? result : failures.toFailure(key);
  }

  #renderRejection(
    failure: Failure,
    request: Request,
    call: IncomingRequest,
    visitor: PageVisitor,
  ): Promise<HttpResponse> {
    const { again } = this.mounted.spec;
    if (!again || isJsonPreferred(request)) {
      return renderErrorPage(this.shared, request, call, visitor, failure, this.#policy.describeRoles());
    }
    const view = again({ code: failure.code, message: failure.message }).withStatus(failure.status);
    for (const [name, value] of Object.entries(failure.more.headers ?? {})) view.header(name, value);
    return this.#renderView(view, call, visitor);
  }

  async #render(result: PageResult, call: IncomingRequest, visitor: PageVisitor): Promise<HttpResponse> {
    const { shared } = this;
    if (result instanceof Redirect) return buildRedirectResponse(result, shared);
    if (result instanceof Reply) {
      const { status, body } = result;
      const headers: Record<string, string | string[]> = validateHeaders(result.headers);
      if (result.cookies.length > 0)
        headers['set-cookie'] = result.cookies.map((cookie) => formatSetCookie(cookie, shared.secure));
      const raw = body === null || typeof body === 'string' || Buffer.isBuffer(body) || body instanceof SharedBytes;
      if (body !== null) headers['content-type'] ??= raw ? 'text/plain; charset=utf-8' : JSON_TYPE;
      return { status, headers, body: raw ? body : toSuccessJson(body) };
    }
    return this.#renderView(result, call, visitor);
  }

  /** Starts to count the badges, so that they load while the page does. */
  async #prefetchBadges(role: Role, { cookies }: PageVisitor): Promise<void> {
    const chosen = await findChosenProject(this.shared.projects, cookies);
    await this.shared.navigation.listPages(role, chosen?.slug ?? null);
  }

  async #renderView(view: View, call: IncomingRequest, visitor: PageVisitor): Promise<HttpResponse> {
    const { shared } = this;
    const { spec } = this.mounted;
    const plugin = view instanceof ForeignView ? view.plugin : this.mounted.plugin;
    const views = view instanceof ForeignView ? shared.viewsOf(plugin) : this.mounted.views;
    const rooted = buildViewContext(shared, call, visitor, spec);
    const [context, panels] = await Promise.all([
      rooted,
      spec.panels && visitor.session
        ? shared.panels.load(visitor.session, findPanelProject(spec, call), rooted)
        : undefined,
    ]);
    const { csrf_token } = view.context;
    const layout = view.isDocument ? null : visitor.session && !view.isPublicLayout ? 'app' : 'blank';
    const styles = shared.assets.listStylesheets([plugin, ...(panels ? shared.panels.plugins : [])]);
    // Spreads would give each page's object its own hidden class (decision 020).
    context['styles'] = styles;
    context['refused'] = buildRejectedFormContext(view, call);
    if (panels) context['panels'] = panels;
    for (const name in view.context) context[name] = view.context[name];
    if (typeof csrf_token === 'string') context['csrf_token'] = maskToken(csrf_token);
    // A form response cannot be requested again.
    if (this.#isForm || view instanceof ForeignView) context['live_topics'] = null;
    const body = await shared.views.render(views, view.template, context, layout);
    return {
      status: view.status,
      headers: {
        ...validateHeaders(view.headers),
        'content-type': HTML_TYPE,
        ...buildCookieHeader(shared, visitor, view.cookies),
      },
      // For the length and for compression.
      body: Buffer.from(body),
      ...(view.holdsSecret && { uncompressed: true }),
    };
  }

  async #renderFailure(
    thrown: unknown,
    request: Request,
    call: IncomingRequest,
    visitor: PageVisitor,
  ): Promise<HttpResponse> {
    const { shared } = this;
    const classified = shared.codes.classify(thrown, this.mounted.plugin);
    if ('fault' in classified) {
      shared.log.error(
        {
          request_id: call.id,
          method: call.method,
          page: this.mounted.spec.path,
          plugin: this.mounted.plugin,
          err: classified.fault,
        },
        `a page failed: ${getErrorText(classified.fault)}`,
      );
    }
    const failure =
      'failure' in classified ? classified.failure : createInternalFailure(classified.fault, shared.debug);
    return renderErrorPage(shared, request, call, visitor, failure, this.#policy.describeRoles());
  }
}

const ENROLLMENT_PATH = '/account';

/** Returns the project of the address, otherwise the one of the project switch; null: all. */
function findPanelProject(
  { projectQuery }: MountedPage['spec'],
  { query, chosenProject }: IncomingRequest,
): string | null {
  const [named] = projectQuery === undefined ? [] : [query[projectQuery] ?? []].flat();
  return typeof named === 'string' && named !== '' ? named : (chosenProject ?? null);
}

const SESSION_ENDED = new Failure(
  'unauthorized',
  'Your session has ended. Sign in and submit again.',
  UNAUTHORIZED.more,
);
