/**
 * Serves one route of a plugin. The contract defines the order: credential, rate limit, body,
 * schema. The body of a caller without a credential is never read.
 */
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';
import { EventStreamAnswer, FileAnswer, type MountedRoute, type RouteSpec } from '../../../ports/http/index.js';
import { AccessPolicy } from '../access/access-policy.js';
import type { ParsedBody } from '../body/body-reader.js';
import { UploadRule } from '../body/upload-rule.js';
import type { RequestSlot } from '../limits/requests-in-flight.js';
import { answerIfVerified } from '../limits/verified-answer.js';
import { formatPrincipal } from '../transport/open-requests.js';
import type { ObserveRequest } from '../transport/request-metrics.js';
import { CORS_HEADERS } from '../wire/cors.js';
import { Failure, STORAGE_FULL, OVERLOADED, PLUGIN_NOT_READY, STOPPING } from '../wire/failure.js';
import { resolveRequestId } from '../wire/headers.js';
import type { HttpResponse } from '../wire/http-response.js';
import { IncomingRequest } from '../wire/incoming-request.js';
import { RouteResponseBuilder } from './route-response-builder.js';
import { RouteAuthenticator } from './route-authenticator.js';
import { RouteInput, SAFE_METHODS } from './route-input.js';
import { RouteLimits } from './route-limits.js';
import { RouteStreams } from './route-streams.js';
import { getAnonymousNetwork } from './caller-keys.js';
import type { RouteServices } from './route-services.js';

export class ApiRoute {
  readonly policy: AccessPolicy;
  readonly #spec: RouteSpec;
  readonly #limits: RouteLimits;
  readonly #credential: RouteAuthenticator;
  readonly #input: RouteInput;
  readonly #upload: UploadRule | null;
  readonly #answers: RouteResponseBuilder;
  readonly #streams: RouteStreams;
  readonly #observe: ObserveRequest;
  readonly #base: Record<string, string | string[]>;

  constructor(
    private readonly mounted: MountedRoute,
    private readonly shared: RouteServices,
  ) {
    const { spec } = mounted;
    this.#spec = spec;
    this.policy = new AccessPolicy(spec.access, spec.bare);
    validateRouteSpec(spec, this.policy);
    const { stream } = spec.input ?? {};
    this.#limits = new RouteLimits(spec, this.policy, shared);
    this.#input = new RouteInput(spec, shared.bodies);
    this.#upload = stream === undefined ? null : new UploadRule(stream, shared.streams.uploadRate);
    const own = { input: this.#input, limits: this.#limits };
    this.#credential = new RouteAuthenticator(this.policy, spec.credential, own, shared);
    this.#answers = new RouteResponseBuilder(mounted, shared);
    this.#streams = new RouteStreams(this.policy, this.#answers, shared);
    this.#observe = shared.timings.createObserver([spec.method].flat(), spec.path, this.#limits.rate);
    this.#base = spec.cors ? { ...shared.headers.api, ...CORS_HEADERS } : shared.headers.api;
  }

  readonly handler = async (request: Request, h: ResponseToolkit): Promise<Lifecycle.ReturnValue> => {
    const call = this.#createCall(request);
    return this.shared.sending.send(request, h, call.id, this.#base, await this.#serve(call));
  };

  #createCall(request: Request): IncomingRequest {
    const { ids, addressOf, secure, requests, inFlight } = this.shared;
    const id = resolveRequestId(request.raw.req.headers['x-request-id'], ids);
    const call = new IncomingRequest(id, request, addressOf, secure, inFlight.stopSignal);
    requests.setDetails(request.raw.req, { id, route: this.#spec.path, who: () => formatPrincipal(call.principal) });
    return call;
  }

  async #serve(call: IncomingRequest): Promise<HttpResponse> {
    const { inFlight, clock } = this.shared;
    const began = clock.monotonic();
    let answer: HttpResponse;
    const place = inFlight.stopping ? null : this.#limits.acquireSlot(call);
    if (place === null) answer = this.#answers.buildUncountedFailure(inFlight.stopping ? STOPPING : OVERLOADED, call);
    else {
      try {
        answer = await this.#answer(await this.#identifyAndRun(call, place), call);
      } catch (thrown) {
        answer = this.#answers.handleThrown(thrown, call);
      } finally {
        place.release();
        call.releaseBody();
      }
    }
    this.#observe(call.method, answer.status, clock.monotonic() - began);
    return answer;
  }

  async #identifyAndRun(call: IncomingRequest, place: RequestSlot): Promise<object | Failure> {
    if (!this.mounted.ready()) return PLUGIN_NOT_READY;
    const body = await this.#credential.identify(call, place);
    if (body instanceof Failure) return body;
    // A call with HTTP Basic was counted before its guard ran.
    const limited = this.policy.basic === null ? this.#limits.check(call) : null;
    if (limited === null) return this.#runAdmitted(call, place, body);
    const proves = this.#spec.limits?.proves;
    if (proves === undefined) return limited;
    return answerIfVerified<object>(limited, this.shared, {
      answer: async () => this.#runAdmitted(call, place, body),
      proves: (answer) => (answer instanceof Failure ? null : proves(call, answer)),
    });
  }

  async #runAdmitted(call: IncomingRequest, place: RequestSlot, body: ParsedBody | null): Promise<object | Failure> {
    const spec = this.#spec;
    const denial = this.policy.public ? null : this.policy.check(call.principal);
    if (denial) return denial;
    if (spec.limits?.space === true && this.shared.space?.isLow() === true) return STORAGE_FULL;
    const wrong = this.#input.checkParams(call) ?? this.#input.checkQuery(call);
    if (wrong) return wrong;
    if (SAFE_METHODS.has(call.method)) return this.#runRead(call);
    if (this.#upload) return (await this.#checkTokenLeak(call)) ?? this.#handleUpload(call, place, this.#upload);
    if (this.#input.reads) {
      const failure = await this.#input.checkBody(call, place, body);
      if (failure) return failure;
      const tooMuch = this.#limits.checkContent(call);
      if (tooMuch) return tooMuch;
    }
    const tooLarge = this.#limits.checkBytes(call);
    if (tooLarge) return tooLarge;
    const published = this.#checkTokenLeak(call);
    const unfit = published && (await published);
    if (unfit) return unfit;
    // The body may have taken a long time.
    if (call.isStale) await call.reauthorize();
    return spec.handle(call);
  }

  /** Public calls have no author, and machine reports are scrubbed instead. */
  #checkTokenLeak(call: IncomingRequest): Promise<Failure | null> | null {
    return this.policy.public || this.#spec.input?.report === true ? null : this.shared.texts.check(call);
  }

  /**
   * Callers alternate, so that a few addresses do not delay others. Public routes skip the queue,
   * because they need no storage to answer.
   */
  #runRead(call: IncomingRequest): Promise<object> | object {
    if (this.#limits.open || this.#spec.waits?.(call) === true) return this.#spec.handle(call);
    return this.shared.turns.run(call.network, async () => this.#spec.handle(call));
  }

  /** While the body arrives, the request holds a stream slot instead of a request slot. */
  async #handleUpload(call: IncomingRequest, place: RequestSlot, rule: UploadRule): Promise<object> {
    const body = rule.open(call.raw.req);
    if (body instanceof Failure) return body;
    const stream = this.shared.streams.places.acquire(getAnonymousNetwork(call));
    if (stream === null) return OVERLOADED;
    place.release();
    call.body = body;
    try {
      return await this.#spec.handle(call);
    } finally {
      stream.release();
    }
  }

  #answer(result: object, call: IncomingRequest): Promise<HttpResponse> | HttpResponse {
    if (result instanceof FileAnswer || result instanceof EventStreamAnswer)
      return this.#streams.buildResponse(result, call);
    return result instanceof Failure ? this.#answers.reject(result, call) : this.#answers.buildSuccess(result, call);
  }
}

/**
 * Rejects combinations that the type allows but that make no sense.
 * @throws TypeError
 */
function validateRouteSpec({ path, input, limits, credential }: RouteSpec, policy: AccessPolicy): void {
  if (policy.session !== null && path.startsWith('/api/') && !path.startsWith('/api/admin/')) {
    throw new TypeError(`${path}: routes below /api/ must not accept the session cookie, except /api/admin/`);
  }
  const streamed = input?.stream !== undefined;
  if (streamed && (input.body ?? limits?.payload ?? credential) !== undefined) {
    throw new TypeError(`${path}: a streamed body must be the only body and cannot contain a credential`);
  }
}
