/**
 * Serves one page of a plugin: session, CSRF token, parameters, handler, view and layout. Without a
 * session, a page redirects to the login and a form is rejected.
 */
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';
import { Redirect, Reply, SharedBytes, View, type MountedPage, type PageResult } from '../../../ports/http.js';
import type { HttpResponse } from '../wire/http-response.js';
import { IncomingRequest } from '../wire/incoming-request.js';
import { setCookie } from '../wire/cookies.js';
import { judgeBasic } from '../access/basic.js';
import { csrfMatches, masked, SESSION_COOKIE } from '../access/csrf.js';
import { tellRefusal } from '../access/refusals.js';
import { JSON_TYPE, successJson } from '../wire/envelope.js';
import {
  errorOf,
  Failure,
  internal,
  NOT_FOUND,
  OVERLOADED,
  PLUGIN_NOT_READY,
  STOPPING,
  textOf,
} from '../wire/failure.js';
import { AccessPolicy, UNAUTHORIZED } from '../access/access-policy.js';
import { PageForms } from './page-forms.js';
import { endedView } from './ended.js';
import { carriedOutOnce, ForeignView, led } from './once.js';
import { checkedHeaders, requestId } from '../wire/headers.js';
import { loginLocation, redirectResponse, searchOf } from '../wire/redirect.js';
import type { RequestPlace } from '../limits/in-flight.js';
import { idle } from '../routes/request-body.js';
import { senderOf } from '../routes/sender.js';
import { whoIs } from '../transport/open-requests.js';
import type { Observe } from '../transport/request-metrics.js';
import { withChosen } from './project-choice.js';
import { refusalPage, refusedForm, refusedOf, wantsJson, wordsOf } from './refusal-page.js';
import {
  contextOf,
  cookieHeader,
  HTML_TYPE,
  NOBODY,
  visitorOf,
  type PageServices,
  type PageVisitor,
} from './visitor.js';
import { unlessProven } from '../limits/proven.js';
import { paramsFit, paramsRule, QueryRule } from '../validation/validate.js';

export class PageRoute {
  readonly #policy: AccessPolicy;
  readonly #query: QueryRule;
  readonly #params: ReturnType<typeof paramsRule>;
  readonly #isForm: boolean;
  readonly #forms: PageForms;
  readonly #observe: Observe;

  constructor(
    private readonly mounted: MountedPage,
    private readonly shared: PageServices,
  ) {
    this.#policy = new AccessPolicy(mounted.spec.access);
    this.#query = new QueryRule(mounted.spec.input?.query, false);
    this.#params = paramsRule(mounted.spec.input?.params);
    this.#isForm = mounted.spec.method === 'POST';
    this.#forms = new PageForms(mounted.spec, this.#policy, shared);
    this.#observe = shared.timings.forRoute([mounted.spec.method ?? 'GET'], mounted.spec.path, 'page');
  }

  readonly handler = async (request: Request, h: ResponseToolkit): Promise<Lifecycle.ReturnValue> => {
    const { shared } = this;
    const began = shared.clock.monotonic();
    const id = requestId(request.raw.req.headers['x-request-id'], shared.ids);
    const call = new IncomingRequest(id, request, shared.addressOf, shared.secure);
    const route = this.mounted.spec.path;
    shared.requests.known(request.raw.req, { id, route, who: () => whoIs(call.principal) });
    const answer = await this.#answer(request, call);
    this.#observe(request.method, answer.status, shared.clock.monotonic() - began);
    return shared.sending.send(request, h, id, shared.headers.page, answer);
  };

  async #answer(request: Request, call: IncomingRequest): Promise<HttpResponse> {
    const { shared } = this;
    if (shared.inFlight.stopping) return refusalPage(shared, request, call, NOBODY, STOPPING);
    let visitor = NOBODY;
    try {
      visitor = await visitorOf(shared, request);
    } catch (thrown) {
      return this.#failed(thrown, request, call, visitor);
    }
    const serve = (): Promise<HttpResponse> => this.#served(request, call, visitor);
    // Addresses alternate, so that hundreds of connections of one do not delay others. A form holds
    // no slot while it arrives.
    return visitor.session !== null || this.#isForm ? serve() : shared.pageTurns.run(call.network, serve);
  }

  async #served(request: Request, call: IncomingRequest, visitor: PageVisitor): Promise<HttpResponse> {
    const { inFlight } = this.shared;
    const place = inFlight.stopping ? null : inFlight.enter(this.#policy.public ? call.network : null);
    if (place === null)
      return refusalPage(this.shared, request, call, visitor, inFlight.stopping ? STOPPING : OVERLOADED);
    try {
      const result = this.#counted(await this.#run(request, call, visitor, place), call);
      if (result instanceof Failure) {
        tellRefusal(this.shared.authenticator, result, this.mounted.spec.path, call);
        return await this.#refused(result, request, call, visitor);
      }
      if (result instanceof View && result.refusal !== null && wantsJson(request)) return refusedForm(result, call.id);
      return await this.#render(result, call, visitor);
    } catch (thrown) {
      return await this.#failed(thrown, request, call, visitor);
    } finally {
      place.leave();
      call.finish();
    }
  }

  async #run(
    request: Request,
    call: IncomingRequest,
    visitor: PageVisitor,
    place: RequestPlace,
  ): Promise<PageResult | Failure> {
    const { spec, ready } = this.mounted;
    const { session } = visitor;
    if (!ready()) return PLUGIN_NOT_READY;
    if (session) call.identified(session, () => this.#reauthorize(request));
    else if (!this.#policy.public) {
      if (wantsJson(request)) return SIGN_IN;
      if (this.#isForm) return this.#ended(request, call, visitor, place);
      return new Redirect(loginLocation(request.path, searchOf(request.raw.req.url)));
    }
    const { limits } = this.shared;
    const limited = this.#policy.public
      ? limits.checkOpen(spec.limits?.bucket ?? 'rest', call.network)
      : limits.check('api', senderOf(call).key);
    if (limited === null) return await this.#admitted(request, call, visitor, place);
    const proves = spec.limits?.proves;
    return proves === undefined
      ? limited
      : unlessProven<PageResult | Failure>(limited, this.shared, {
          answer: () => this.#admitted(request, call, visitor, place),
          proves: (answer) => (answer instanceof Failure ? null : proves(call, answer)),
        });
  }

  /** @throws ServiceError unauthorized, role_not_allowed */
  async #reauthorize(request: Request): Promise<void> {
    const { session } = await visitorOf(this.shared, request);
    const failure = session === null ? UNAUTHORIZED : this.#policy.refuses(session);
    if (failure) throw errorOf(failure);
  }

  async #admitted(
    request: Request,
    call: IncomingRequest,
    visitor: PageVisitor,
    place: RequestPlace,
  ): Promise<PageResult | Failure> {
    const [{ spec }, { session }] = [this.mounted, visitor];
    // Checks access before a large file is received.
    const unfit = spec.upload === undefined ? null : this.#policy.refuses(call.principal);
    if (unfit) return unfit;
    const form = this.#isForm ? await this.#forms.read(request, call, visitor, place) : null;
    if (form instanceof Failure) return form;
    const refused = this.#policy.public ? null : this.#policy.refuses(call.principal);
    if (refused) return refused;
    const params = paramsFit(this.#params, call.params);
    if (params === null) return NOT_FOUND;
    call.params = params;
    const query = this.#query.check(await withChosen(this.shared.projects, visitor, spec, call));
    if (query instanceof Failure) return wordsOf(query);
    call.query = query.value;
    const denied = await this.#checkBasic(call);
    if (denied !== null) return denied;
    // Badges load concurrently with the page, after the page's own queries.
    if (!this.#isForm) {
      const handled = spec.handle(call);
      if (session) void this.shared.navigation.for(session.role);
      return handled;
    }
    const { forms, texts } = this.shared;
    const published = this.#policy.public || spec.upload !== undefined ? null : await texts.judge(call);
    if (published) return published;
    // The form may have taken a long time.
    if (call.isStale) await call.reauthorize();
    const handled = async (): Promise<PageResult> => {
      const result = await spec.handle(call);
      return session && forms
        ? led(forms, session, { plugin: this.mounted.plugin, title: spec.title }, result)
        : result;
    };
    try {
      if (spec.creates !== true || !session || !forms) return await handled();
      const { path, body: fields } = call;
      return await carriedOutOnce(forms, session, { path, formId: form?.id, fields: fields as object }, handled);
    } finally {
      this.shared.navigation.changed();
    }
  }

  /**
   * Checks the `Authorization` header of a page with HTTP Basic and returns the failure, if any.
   */
  async #checkBasic(call: IncomingRequest): Promise<Failure | null> {
    const { basic } = this.mounted.spec;
    const { authorization } = call.rawHeaders;
    if (basic === undefined || authorization === undefined) return null;
    const judged = await judgeBasic(basic, call, authorization);
    if (judged instanceof Failure) return judged;
    call.principal = judged;
    return null;
  }

  /**
   * Builds the login form that retains what the user typed (contract 80, conduct). The CSRF token
   * proves that the form came from a page of this session.
   */
  async #ended(
    request: Request,
    call: IncomingRequest,
    visitor: PageVisitor,
    place: RequestPlace,
  ): Promise<View | Failure> {
    const { limits, bodies, authenticator } = this.shared;
    const cookie = visitor.cookies[SESSION_COOKIE];
    if (cookie === undefined) return SIGN_IN;
    const limited = limits.checkOpen('login', call.network);
    if (limited) return limited;
    const form = await idle(place, () => bodies.form(request.raw.req, senderOf(call), call.keep));
    if (form instanceof Failure) return SIGN_IN;
    const { csrf_token, ...fields } = form;
    if (!csrfMatches(authenticator, csrf_token, [cookie])) return SIGN_IN;
    const path = `${request.path}${searchOf(request.raw.req.url)}`;
    return endedView({ path, fields }, (text) => authenticator.csrf(text)) ?? SIGN_IN;
  }

  /**
   * Counts a failed login per address like a rejected token; over the limit the answer is 429
   * (contract 00, limits).
   */
  #counted(result: PageResult | Failure, call: IncomingRequest): PageResult | Failure {
    const status = result instanceof Failure || result instanceof View ? result.status : 200;
    const isBasic = this.mounted.spec.basic !== undefined && call.rawHeaders['authorization'] !== undefined;
    const isGuess = this.#isForm || isBasic;
    if (status !== 401 || !isGuess || !this.#policy.public) return result;
    const { failures } = this.shared.limits;
    const key = call.network;
    return failures.take(key) ? result : failures.refusal(key);
  }

  #refused(failure: Failure, request: Request, call: IncomingRequest, visitor: PageVisitor): Promise<HttpResponse> {
    const { again } = this.mounted.spec;
    if (!again || wantsJson(request)) {
      return refusalPage(this.shared, request, call, visitor, failure, this.#policy.who());
    }
    const view = again({ code: failure.code, message: failure.message }).withStatus(failure.status);
    for (const [name, value] of Object.entries(failure.more.headers ?? {})) view.header(name, value);
    return this.#renderView(view, call, visitor);
  }

  async #render(result: PageResult, call: IncomingRequest, visitor: PageVisitor): Promise<HttpResponse> {
    const { shared } = this;
    if (result instanceof Redirect) return redirectResponse(result, shared);
    if (result instanceof Reply) {
      const { status, body } = result;
      const headers: Record<string, string | string[]> = checkedHeaders(result.headers);
      if (result.cookies.length > 0)
        headers['set-cookie'] = result.cookies.map((cookie) => setCookie(cookie, shared.secure));
      const raw = body === null || typeof body === 'string' || Buffer.isBuffer(body) || body instanceof SharedBytes;
      if (body !== null) headers['content-type'] ??= raw ? 'text/plain; charset=utf-8' : JSON_TYPE;
      return { status, headers, body: raw ? body : successJson(body) };
    }
    return this.#renderView(result, call, visitor);
  }

  async #renderView(view: View, call: IncomingRequest, visitor: PageVisitor): Promise<HttpResponse> {
    const { shared } = this;
    const { spec } = this.mounted;
    const plugin = view instanceof ForeignView ? view.plugin : this.mounted.plugin;
    const views = view instanceof ForeignView ? shared.viewsOf(plugin) : this.mounted.views;
    const rooted = contextOf(shared, call, visitor, spec.title);
    const [context, panels] = await Promise.all([
      rooted,
      spec.panels && visitor.session ? shared.panels.load(visitor.session, rooted) : undefined,
    ]);
    const { csrf_token } = view.context;
    const layout = view.isDocument ? null : visitor.session ? 'app' : 'blank';
    const styles = shared.assets.stylesOf([plugin, ...(panels ? shared.panels.plugins : [])]);
    // Assigned individually: spreads would give each page's object its own hidden class (decision
    // 020).
    context['styles'] = styles;
    context['refused'] = refusedOf(view, call);
    if (panels) context['panels'] = panels;
    for (const name in view.context) context[name] = view.context[name];
    if (typeof csrf_token === 'string') context['csrf_token'] = masked(csrf_token);
    // A form response cannot be requested again.
    if (this.#isForm || view instanceof ForeignView) context['live_topics'] = null;
    const body = await shared.views.render(views, view.template, context, layout);
    return {
      status: view.status,
      headers: {
        ...checkedHeaders(view.headers),
        'content-type': HTML_TYPE,
        ...cookieHeader(shared, visitor, view.cookies),
      },
      // Encoded once, for the length and for compression.
      body: Buffer.from(body),
      ...(view.holdsSecret && { uncompressed: true }),
    };
  }

  async #failed(thrown: unknown, request: Request, call: IncomingRequest, visitor: PageVisitor): Promise<HttpResponse> {
    const { shared } = this;
    const judged = shared.codes.judge(thrown, this.mounted.plugin);
    if ('fault' in judged) {
      shared.log.error(
        {
          request_id: call.id,
          method: call.method,
          page: this.mounted.spec.path,
          plugin: this.mounted.plugin,
          err: judged.fault,
        },
        `a page failed: ${textOf(judged.fault)}`,
      );
    }
    const failure = 'failure' in judged ? judged.failure : internal(judged.fault, shared.debug);
    return refusalPage(shared, request, call, visitor, failure, this.#policy.who());
  }
}

const SIGN_IN = new Failure(
  'unauthorized',
  'Your session has ended. Sign in and send the form again.',
  UNAUTHORIZED.more,
);
