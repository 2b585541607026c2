import { Redirect, Reply, SharedBytes, type Answer, type MountedRoute } from '../../../ports/http.js';
import { tellRefusal } from '../access/refusals.js';
import { withRateLimitHeaders } from '../limits/rate-limits.js';
import { setCookie } from '../wire/cookies.js';
import {
  failureResponse,
  JSON_TYPE,
  refusedJson,
  successJson,
  withWarnings,
  appendWarnings,
} from '../wire/envelope.js';
import { internal, textOf, withRetryAfter, type Failure } from '../wire/failure.js';
import { checkedHeaders } from '../wire/headers.js';
import type { HttpResponse } from '../wire/http-response.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { redirectResponse } from '../wire/redirect.js';
import type { RouteServices } from './services.js';

type Services = Pick<
  RouteServices,
  'authenticator' | 'codes' | 'debug' | 'limits' | 'log' | 'secure' | 'servesPage' | 'timings'
>;

const JSON_HEADERS: Record<string, string> = { 'content-type': JSON_TYPE };

export class RouteAnswers {
  readonly #spec: MountedRoute['spec'];
  /** Successful responses have no envelope. */
  readonly #plain: boolean;

  constructor(
    private readonly mounted: MountedRoute,
    private readonly services: Services,
  ) {
    this.#spec = mounted.spec;
    this.#plain = (mounted.spec.bare ?? false) || (mounted.spec.plain ?? false);
  }

  success(result: object, call: IncomingRequest): HttpResponse {
    if (result instanceof Reply) return this.#reply(result, call);
    if (result instanceof Redirect) return redirectResponse(result, this.services);
    const data = withWarnings(result, call.warnings);
    return { status: 200, headers: JSON_HEADERS, body: this.#plain ? JSON.stringify(data) : successJson(data) };
  }

  #reply(reply: Reply, { id, warnings }: IncomingRequest): HttpResponse {
    const { status, body: given } = reply;
    const headers = this.ownHeaders(reply);
    if (given === null || typeof given === 'string' || Buffer.isBuffer(given) || given instanceof SharedBytes) {
      if (given !== null) headers['content-type'] ??= 'text/plain; charset=utf-8';
      const isJson = status === 200 && headers['content-type'] === JSON_TYPE && warnings.length > 0;
      return { status, headers, body: isJson ? appendWarnings(given, warnings) : given };
    }
    headers['content-type'] ??= JSON_TYPE;
    const body = status < 400 ? withWarnings(given, warnings) : given;
    if (this.#spec.bare || (this.#plain && status < 400)) return { status, headers, body: JSON.stringify(body) };
    return { status, headers, body: status < 400 ? successJson(body) : refusedJson(status, body, id) };
  }

  ownHeaders({ headers, cookies }: Answer): Record<string, string | string[]> {
    const all: Record<string, string | string[]> = checkedHeaders(headers);
    if (cookies.length > 0) all['set-cookie'] = cookies.map((cookie) => setCookie(cookie, this.services.secure));
    return all;
  }

  refused(failure: Failure, call: IncomingRequest): HttpResponse {
    tellRefusal(this.services.authenticator, failure, this.#spec.path, call);
    return this.refusal(failure, call);
  }

  /**
   * Builds the response to a failure. 401 answers are counted per address; over the limit they
   * become 429 (contract 00, limits).
   */
  refusal(failure: Failure, call: IncomingRequest): HttpResponse {
    const { failures } = this.services.limits;
    if (failure.status === 401 && !failures.take(call.network))
      return this.#response(failures.refusal(call.network), call.id);
    return this.uncounted(failure, call);
  }

  uncounted(failure: Failure, { id }: IncomingRequest): HttpResponse {
    return this.#response(withRateLimitHeaders(withRetryAfter(failure)), id);
  }

  thrown(thrown: unknown, call: IncomingRequest): HttpResponse {
    const { codes, debug } = this.services;
    const judged = codes.judge(thrown, this.mounted.plugin);
    if ('failure' in judged) return this.refusal(judged.failure, call);
    this.log(judged.fault, call, 'a route failed');
    return this.#response(internal(judged.fault, debug), call.id);
  }

  #response(failure: Failure, id: string): HttpResponse {
    const answer = failureResponse(failure, id, this.#spec.bare);
    this.services.timings.refused(failure.code);
    this.#spec.onRefused?.(failure.code);
    const more = failure.status === 429 ? this.#spec.limits?.refused : undefined;
    if (more) answer.headers = { ...more(Number(answer.headers['retry-after'])), ...answer.headers };
    return answer;
  }

  log(thrown: unknown, call: IncomingRequest, what: string): void {
    this.services.log.error(
      { request_id: call.id, method: call.method, route: this.#spec.path, plugin: this.mounted.plugin, err: thrown },
      `${what}: ${textOf(thrown)}`,
    );
  }
}
