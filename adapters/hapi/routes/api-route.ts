/**
 * One route of a plugin, from the request to its answer. The order is the contract's: path and method (the router), then
 * credential, rate limit, body, validation; so a body without a credential is neither read nor parsed.
 */
import type { IncomingMessage } from 'node:http';
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';
import {
  EventStreamAnswer,
  FileAnswer,
  Redirect,
  Reply,
  SharedBytes,
  type Answer,
  type Authenticator,
  type BasicGuard,
  type MountedRoute,
  type OpenBucket,
  type RateClass,
} from '../../../ports/http.js';
import type { Clock } from '../../../ports/clock.js';
import type { Ids } from '../../../ports/ids.js';
import type { Logger } from '../../../ports/logger.js';
import type { StorageSpace } from '../../../ports/domain/health.js';
import type { AddressOf } from '../wire/address.js';
import type { HttpResponse } from '../wire/http-response.js';
import { authenticate, extracted } from '../access/authenticate.js';
import { judgeBasic } from '../access/basic.js';
import type { BodyReader, ReadBody } from '../body/body-reader.js';
import { UploadRule } from '../body/upload-rule.js';
import { IncomingRequest, type Requested } from '../wire/incoming-request.js';
import { cookieOf, setCookie } from '../wire/cookies.js';
import { CORS_HEADERS } from '../wire/cors.js';
import { CSRF_FAILED, csrfMatches, SESSION_COOKIE } from '../access/csrf.js';
import { tellRefusal } from '../access/refusals.js';
import { failureResponse, JSON_TYPE, refusedJson, successJson, withWarnings } from '../wire/envelope.js';
import {
  Failure,
  internal,
  NOT_FOUND,
  NO_SPACE,
  OVERLOADED,
  PLUGIN_NOT_READY,
  STOPPING,
  textOf,
} from '../wire/failure.js';
import type { DeclaredCodes } from '../wire/declared-codes.js';
import { AccessPolicy, MISSING } from '../access/access-policy.js';
import { checkedHeaders, requestId, type standardHeaders } from '../wire/headers.js';
import type { FairSlots } from '../limits/fair-slots.js';
import type { InFlight, Place } from '../limits/in-flight.js';
import type { RateLimits } from '../limits/rate-limits.js';
import { redirectResponse } from '../wire/redirect.js';
import { fileResponse } from '../streams/file-response.js';
import type { StreamServices } from '../streams/stream-services.js';
import { isForHapi, type Sending } from '../transport/send.js';
import { whoIs, type OpenRequests } from '../transport/open-requests.js';
import type { Observe, RequestMetrics } from '../transport/request-metrics.js';
import { formFailure, idle, listenerOf, senderOf } from './request-body.js';
import { unlessProven } from '../limits/proven.js';
import { BodyRule, paramsFit, paramsRule, QueryRule } from '../validation/validate.js';

/** What every route shares. */
export interface RouteServices {
  authenticator: Authenticator;
  codes: DeclaredCodes;
  /** Null: nobody watches it. */
  space: StorageSpace | null;
  limits: RateLimits;
  bodies: BodyReader;
  inFlight: InFlight;
  /** Of reading with a credential. */
  turns: FairSlots;
  streams: StreamServices;
  sending: Sending;
  requests: OpenRequests;
  addressOf: AddressOf;
  timings: RequestMetrics;
  log: Logger;
  clock: Clock;
  ids: Ids;
  debug: boolean;
  secure: boolean;
  headers: ReturnType<typeof standardHeaders>;
}

const SAFE = new Set(['GET', 'HEAD']);

export class ApiRoute {
  readonly policy: AccessPolicy;
  readonly #spec: MountedRoute['spec'];
  readonly #body: BodyRule | null;
  readonly #upload: UploadRule | null;
  /** Nobody has to show a credential. */
  readonly #open: boolean;
  readonly #query: QueryRule;
  readonly #params: ReturnType<typeof paramsRule>;
  readonly #rate: RateClass;
  readonly #bucket: OpenBucket;
  readonly #observe: Observe;
  readonly #reads: boolean;
  readonly #bodyOptions: { limits?: MountedRoute['spec']['limits']; optional: boolean };
  readonly #base: Record<string, string | string[]>;
  readonly #json: Record<string, string>;
  /** Successful answers go as they are. */
  readonly #plain: boolean;
  /** Answers that were made before hapi saw their requests. */
  readonly #made = new WeakMap<IncomingMessage, { id: string; answer: HttpResponse }>();

  constructor(
    private readonly mounted: MountedRoute,
    private readonly shared: RouteServices,
  ) {
    const { spec } = mounted;
    this.#spec = spec;
    this.policy = new AccessPolicy(spec.access, spec.bare);
    if (this.policy.session !== null && spec.path.startsWith('/api/') && !spec.path.startsWith('/api/admin/')) {
      throw new TypeError(`${spec.path}: no route below /api/ takes the session cookie, /api/admin/ aside`);
    }
    const { stream } = spec.input ?? {};
    if (stream !== undefined && (spec.input?.body ?? spec.limits?.payload ?? spec.credential) !== undefined) {
      throw new TypeError(`${spec.path}: a streamed body is the only body, and holds no credential`);
    }
    if (spec.direct === true && (stream !== undefined || this.policy.session !== null)) {
      throw new TypeError(`${spec.path}: a direct route reads no stream and takes no session`);
    }
    this.#open = this.policy.public || this.policy.basic !== null;
    this.#upload = stream === undefined ? null : new UploadRule(stream, shared.streams.uploadRate);
    this.#body = spec.input?.body ? new BodyRule(spec.input.body) : null;
    this.#query = new QueryRule(spec.input?.query, spec.strictQuery ?? false);
    this.#params = paramsRule(spec.input?.params);
    this.#rate = spec.limits?.rate ?? (this.#open ? 'public' : 'api');
    this.#bucket = spec.limits?.bucket ?? (this.policy.basic === null ? 'rest' : 'store');
    this.#observe = shared.timings.forRoute([spec.method].flat(), spec.path, this.#rate);
    this.#reads = this.#body !== null || spec.limits?.payload !== undefined;
    this.#bodyOptions = { limits: spec.limits, optional: spec.input?.optionalBody ?? false };
    this.#base = spec.cors ? { ...shared.headers.api, ...CORS_HEADERS } : shared.headers.api;
    this.#json = { 'content-type': JSON_TYPE };
    this.#plain = (spec.bare ?? false) || (spec.plain ?? false);
  }

  /** hapi's handler. Never throws. */
  readonly handler = async (request: Request, h: ResponseToolkit): Promise<Lifecycle.ReturnValue> => {
    const made = this.#made.get(request.raw.req);
    if (made !== undefined) return this.shared.sending.send(request, h, made.id, this.#base, made.answer);
    const call = this.#call(request);
    return this.shared.sending.send(request, h, call.id, this.#base, await this.#serve(call));
  };

  /** Answers before hapi has seen the request (transport/direct.ts). */
  direct(asked: Requested, hapi: () => void): boolean {
    if (this.shared.inFlight.stopping) return false;
    void this.#serveDirectly(this.#call(asked), hapi);
    return true;
  }

  async #serveDirectly(call: IncomingRequest, hapi: () => void): Promise<void> {
    const { req, res } = call.raw;
    try {
      const answer = await this.#serve(call);
      if (isForHapi(req, answer)) {
        this.#made.set(req, { id: call.id, answer });
        hapi();
      } else this.shared.sending.direct(call.raw, call.id, this.#base, answer);
    } catch (thrown) {
      this.#log(thrown, call, 'an answer could not be sent');
      res.destroy();
    }
  }

  #call(asked: Requested): IncomingRequest {
    const { ids, addressOf, secure, requests } = this.shared;
    const id = requestId(asked.raw.req.headers['x-request-id'], ids);
    const call = new IncomingRequest(id, asked, addressOf, secure);
    requests.known(asked.raw.req, { id, route: this.#spec.path, who: () => whoIs(call.principal) });
    return call;
  }

  /** From the request to its answer. Never throws. */
  async #serve(call: IncomingRequest): Promise<HttpResponse> {
    const { inFlight, clock } = this.shared;
    const began = clock.monotonic();
    let answer: HttpResponse;
    const place = inFlight.stopping ? null : this.#place(call);
    if (place === null) answer = this.#refuse(inFlight.stopping ? STOPPING : OVERLOADED, call.id);
    else {
      try {
        answer = await this.#answer(await this.#run(call, place), call);
      } catch (thrown) {
        answer = this.#failed(thrown, call);
      } finally {
        place.leave();
        call.finish();
      }
    }
    this.#observe(call.method, answer.status, clock.monotonic() - began);
    return answer;
  }

  /** Probes are answered however full it is. */
  #place(call: IncomingRequest): Place | null {
    const { inFlight } = this.shared;
    if (this.#rate === 'none') return inFlight.admit(null);
    return inFlight.enter(this.#open ? call.network : null);
  }

  async #run(call: IncomingRequest, place: Place): Promise<object | Failure> {
    const spec = this.#spec;
    if (!this.mounted.ready()) return PLUGIN_NOT_READY;
    let body: ReadBody | null = null;
    if (this.policy.basic) {
      const refused = await this.#judge(call, this.policy.basic);
      if (refused) return refused;
    } else if (!this.policy.public) {
      if (spec.credential) {
        const outcome = await this.#extract(call, place, spec.credential);
        if (outcome instanceof Failure) return outcome;
        body = outcome;
      } else {
        const principal = await authenticate(
          this.shared.authenticator,
          this.policy,
          call.raw.req.headers,
          this.shared.secure,
        );
        if (principal instanceof Failure) return principal;
        call.principal = principal;
      }
      if (call.principal.kind === 'session' && !SAFE.has(call.method)) {
        const outcome = await this.#proveForm(call, place);
        if (outcome instanceof Failure) return outcome;
        body = outcome;
      }
    }
    const limited = this.policy.basic ? null : this.#limited(call);
    if (limited === null) return this.#admitted(call, place, body);
    const proves = spec.limits?.proves;
    return proves === undefined
      ? limited
      : unlessProven<object>(limited, this.shared, {
          answer: async () => this.#admitted(call, place, body),
          proves: (answer) => (answer instanceof Failure ? null : proves(call, answer)),
        });
  }

  /** Counted; and as far as a credential is asked for, known. */
  async #admitted(call: IncomingRequest, place: Place, body: ReadBody | null): Promise<object | Failure> {
    const spec = this.#spec;
    const refused = this.policy.public ? null : this.policy.refuses(call.principal);
    if (refused) return refused;
    if (spec.limits?.space === true && this.shared.space?.short() === true) return NO_SPACE;
    const params = paramsFit(this.#params, call.params);
    if (params === null) return NOT_FOUND;
    call.params = params;
    const query = this.#query.check(call.query);
    if (query instanceof Failure) return query;
    call.query = query.value;
    if (SAFE.has(call.method)) {
      // Hundreds of long lists from some addresses hold up nobody else's; what is open to all needs no storage to answer.
      return this.#open ? spec.handle(call) : this.shared.turns.run(call.network, async () => spec.handle(call));
    }
    if (this.#upload) return this.#handleUpload(call, place, this.#upload);
    if (this.#reads) {
      const failure = await this.#takeBody(call, place, body);
      if (failure) return failure;
    }
    return spec.handle(call);
  }

  /** Counted before the guard does its work, which may be as costly as a password hash. */
  async #judge(call: IncomingRequest, guard: BasicGuard): Promise<Failure | null> {
    const limited = this.#limited(call);
    const { authorization } = call.raw.req.headers;
    if (limited && authorization === undefined) return limited;
    const params = paramsFit(this.#params, call.params);
    if (params === null) return NOT_FOUND;
    call.params = params;
    const principal = await judgeBasic(guard, call, authorization, limited !== null);
    if (limited) {
      const who = principal instanceof Failure || principal.kind !== 'basic' ? null : principal.username;
      const refused = who === null ? limited : this.shared.limits.checkProven(`basic ${who}`);
      if (refused) return refused;
    }
    if (principal instanceof Failure) return principal;
    call.principal = principal;
    return null;
  }

  #limited(call: IncomingRequest): Failure | null {
    const { limits } = this.shared;
    const key = this.#rateKey(call);
    if (key === null || call.countedAs === this.#rate) return null;
    return this.#rate === 'public' ? limits.checkOpen(this.#bucket, key) : limits.check(this.#rate, key);
  }

  /** The handler reads the body itself. While it arrives the request is not at work, but it is a stream. */
  async #handleUpload(call: IncomingRequest, place: Place, rule: UploadRule): Promise<object> {
    const body = rule.open(call.raw.req);
    if (body instanceof Failure) return body;
    const stream = this.shared.streams.places.enter(this.#stranger(call));
    if (stream === null) return OVERLOADED;
    place.leave();
    call.body = body;
    try {
      return await this.#spec.handle(call);
    } finally {
      stream.leave();
    }
  }

  /** The network of a caller without a credential, else null. */
  #stranger(call: IncomingRequest): string | null {
    const { principal } = call;
    const known = principal.kind === 'basic' ? principal.username !== null : principal.kind !== 'public';
    return known ? null : call.network;
  }

  async #takeBody(call: IncomingRequest, place: Place, known: ReadBody | null): Promise<Failure | null> {
    const read = known ?? (await this.#read(call, place, call.principal.kind === 'session'));
    if (read instanceof Failure) return read;
    const reader = this.#spec.limits?.read;
    call.body = reader !== undefined && Buffer.isBuffer(read.value) ? reader(read.value) : read.value;
    if (this.#body && !Buffer.isBuffer(read.value)) {
      const checked = this.#body.check(read.value, read.bytes);
      if (checked instanceof Failure) return checked;
      call.body = checked.value;
      call.warnings = checked.unknown;
    }
    const cost = this.#spec.limits?.cost?.(call.body) ?? 1;
    const key = this.#rateKey(call);
    return cost > 1 && key !== null ? this.shared.limits.check(this.#rate, key, cost, 1) : null;
  }

  #read(call: IncomingRequest, place: Place, forms = false): Promise<ReadBody | Failure> {
    const { bodies } = this.shared;
    return idle(place, () => bodies.read(call.raw.req, this.#bodyOptions, senderOf(call), call.keep, forms));
  }

  /** Null for calls that no bucket counts. */
  #rateKey(call: IncomingRequest): string | null {
    if (this.#rate === 'none' || call.principal.kind === 'shared_key') return null;
    return this.#rate === 'public' ? call.network : senderOf(call).key;
  }

  /** The route's own place for the credential: headers and query first, and only then the first bytes of the body. */
  async #extract(
    call: IncomingRequest,
    place: Place,
    credential: NonNullable<MountedRoute['spec']['credential']>,
  ): Promise<ReadBody | null | Failure> {
    const { authenticator } = this.shared;
    const named = await extracted(authenticator, credential, call, null);
    if (named instanceof Failure) return named;
    if (named !== null) {
      call.principal = named;
      return null;
    }
    if (!this.#reads || SAFE.has(call.method)) return MISSING;
    const { bodies, limits } = this.shared;
    const address = call.network;
    // Before a byte is read for a caller without a credential.
    const limited = limits.checkKeyless(address);
    if (limited) return limited;
    const body = await idle(place, () => bodies.head(call.raw.req, this.#bodyOptions, address, call.keep));
    if (body instanceof Failure) return body;
    const principal = (await extracted(authenticator, credential, call, body.head)) ?? MISSING;
    if (principal instanceof Failure) return principal;
    call.principal = principal;
    return idle(place, () => body.rest(senderOf(call).key));
  }

  /** A session's change must come from our page: `X-CSRF-Token`, or the field `csrf_token`. */
  async #proveForm(call: IncomingRequest, place: Place): Promise<ReadBody | null | Failure> {
    const cookie = [cookieOf(call.raw.req.headers['cookie'], SESSION_COOKIE, this.shared.secure)];
    const header = call.raw.req.headers['x-csrf-token'];
    if (header !== undefined) return csrfMatches(this.shared.authenticator, header, cookie) ? null : CSRF_FAILED;
    const read = await this.#read(call, place, true);
    if (read instanceof Failure) return formFailure(read);
    const { value } = read;
    if (typeof value !== 'object' || value === null || !('csrf_token' in value)) return CSRF_FAILED;
    const { csrf_token, ...rest } = value;
    return csrfMatches(this.shared.authenticator, csrf_token, cookie)
      ? { value: rest, bytes: read.bytes }
      : CSRF_FAILED;
  }

  #answer(result: object, call: IncomingRequest): Promise<HttpResponse> | HttpResponse {
    if (result instanceof FileAnswer || result instanceof EventStreamAnswer) return this.#stream(result, call);
    if (!(result instanceof Failure)) return this.#render(result, call);
    tellRefusal(this.shared.authenticator, result, this.#spec.path, call);
    return this.#refuse(result, call.id, call);
  }

  async #stream(answer: FileAnswer | EventStreamAnswer, call: IncomingRequest): Promise<HttpResponse> {
    const { places, events, buffers, stallMs } = this.shared.streams;
    const place = places.enter(this.#stranger(call));
    if (place === null) return this.#refuse(OVERLOADED, call.id);
    const closed = (): void => place.leave();
    const failed = (thrown: unknown): void => this.#log(thrown, call, 'a stream failed');
    try {
      const own = this.#ownHeaders(answer);
      const rules = { stallMs, buffers, failed, closed, place };
      const response =
        answer instanceof FileAnswer
          ? await fileResponse(answer.file, call.method, call.raw.req.headers, own, rules)
          : events.response(this.#watched(answer, call), own, call.method === 'HEAD', listenerOf(call), rules);
      if (!(response instanceof Failure)) return response;
      closed();
      return this.#refuse(response, call.id, call);
    } catch (thrown) {
      closed();
      throw thrown;
    }
  }

  /** A stream outlives the check of its credential, so the session is looked up again and again while it is open. */
  #watched(answer: EventStreamAnswer, call: IncomingRequest): EventStreamAnswer {
    const { principal } = call;
    if (principal.kind !== 'session') return answer;
    const cookie = cookieOf(call.raw.req.headers['cookie'], SESSION_COOKIE, this.shared.secure) ?? '';
    const { alive, ...options } = answer.options;
    const stillOpen = async (): Promise<boolean> => {
      const now = await this.shared.authenticator.session(cookie);
      return now !== null && this.policy.refuses(now) === null && (alive === undefined || (await alive()));
    };
    return new EventStreamAnswer(answer.events, { ...options, alive: stillOpen });
  }

  #ownHeaders({ headers, cookies }: Answer): Record<string, string | string[]> {
    const all: Record<string, string | string[]> = checkedHeaders(headers);
    if (cookies.length > 0) all['set-cookie'] = cookies.map((cookie) => setCookie(cookie, this.shared.secure));
    return all;
  }

  #render(result: object, call: IncomingRequest): HttpResponse {
    if (result instanceof Reply) return this.#renderReply(result, call);
    if (result instanceof Redirect) return redirectResponse(result, this.shared);
    const data = withWarnings(result, call.warnings);
    return { status: 200, headers: this.#json, body: this.#plain ? JSON.stringify(data) : successJson(data) };
  }

  #renderReply(reply: Reply, { id, warnings }: IncomingRequest): HttpResponse {
    const { status, body: given } = reply;
    const all = this.#ownHeaders(reply);
    if (given === null || typeof given === 'string' || Buffer.isBuffer(given) || given instanceof SharedBytes) {
      if (given !== null) all['content-type'] ??= 'text/plain; charset=utf-8';
      return { status, headers: all, body: given };
    }
    all['content-type'] ??= JSON_TYPE;
    const body = status < 400 ? withWarnings(given, warnings) : given;
    if (this.#spec.bare || (this.#plain && status < 400)) return { status, headers: all, body: JSON.stringify(body) };
    return { status, headers: all, body: status < 400 ? successJson(body) : refusedJson(status, body, id) };
  }

  /** 401 answers are counted per address; while they are used up, further ones are 429 (contract 00, limits). */
  #refuse(failure: Failure, id: string, call?: IncomingRequest): HttpResponse {
    if (failure.status === 401 && call) {
      const { failures } = this.shared.limits;
      const key = call.network;
      if (!failures.take(key)) return this.#refusal(failures.refusal(key), id);
    }
    return this.#refusal(withLimits(failure), id);
  }

  #refusal(failure: Failure, id: string): HttpResponse {
    const answer = failureResponse(failure, id, this.#spec.bare);
    this.shared.timings.refused(failure.code);
    this.#spec.onRefused?.(failure.code);
    const more = failure.status === 429 ? this.#spec.limits?.refused : undefined;
    if (more) Object.assign(answer.headers, more(Number(answer.headers['retry-after'])));
    return answer;
  }

  #failed(thrown: unknown, call: IncomingRequest): HttpResponse {
    const judged = this.shared.codes.judge(thrown, this.mounted.plugin);
    if ('failure' in judged) return this.#refuse(judged.failure, call.id, call);
    this.#log(judged.fault, call, 'a route failed');
    return this.#refusal(internal(judged.fault, this.shared.debug), call.id);
  }

  #log(thrown: unknown, call: IncomingRequest, what: string): void {
    this.shared.log.error(
      { request_id: call.id, method: call.method, route: this.#spec.path, plugin: this.mounted.plugin, err: thrown },
      `${what}: ${textOf(thrown)}`,
    );
  }
}

/** What a plugin throws knows when to come back, but not the other headers that go with every 429 and 503. */
function withLimits(failure: Failure): Failure {
  const { headers = {} } = failure.more;
  if (failure.status === 503 && !headers['retry-after']) {
    return new Failure(failure.code, failure.message, { ...failure.more, headers: { ...headers, 'retry-after': '5' } });
  }
  if (failure.status !== 429 || headers['ratelimit-limit']) return failure;
  const wait = headers['retry-after'] ?? '1';
  return new Failure(failure.code, failure.message, {
    ...failure.more,
    headers: {
      'ratelimit-limit': '1',
      'ratelimit-remaining': '0',
      'ratelimit-reset': wait,
      ...headers,
      'retry-after': wait,
    },
  });
}
