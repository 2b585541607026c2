import { Redirect, Reply, SharedBytes, type Answer, type MountedRoute } from '../../../ports/http/index.js';
import { reportDenial } from '../access/denial-report.js';
import { addRateLimitHeaders } from '../limits/rate-limits.js';
import { formatSetCookie } from '../wire/cookies.js';
import {
  buildFailureResponse,
  JSON_TYPE,
  toErrorJson,
  toSuccessJson,
  addWarnings,
  appendWarnings,
} from '../wire/envelope.js';
import { createInternalFailure, getErrorText, addRetryAfter, type Failure } from '../wire/failure.js';
import { validateHeaders } from '../wire/headers.js';
import type { HttpResponse } from '../wire/http-response.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { buildRedirectResponse } from '../wire/redirect.js';
import type { RouteServices } from './route-services.js';

type Services = Pick<
  RouteServices,
  'authenticator' | 'codes' | 'debug' | 'limits' | 'log' | 'secure' | 'servesPage' | 'timings'
>;

const JSON_HEADERS: Record<string, string> = { 'content-type': JSON_TYPE };

export class RouteResponseBuilder {
  readonly #spec: MountedRoute['spec'];
  readonly #plain: boolean;

  constructor(
    private readonly mounted: MountedRoute,
    private readonly services: Services,
  ) {
    this.#spec = mounted.spec;
    this.#plain = (mounted.spec.bare ?? false) || (mounted.spec.plain ?? false);
  }

  buildSuccess(result: object, call: IncomingRequest): HttpResponse {
    if (result instanceof Reply) return this.#buildReply(result, call);
    if (result instanceof Redirect) return buildRedirectResponse(result, this.services);
    const data = addWarnings(result, call.warnings);
    return { status: 200, headers: JSON_HEADERS, body: this.#plain ? JSON.stringify(data) : toSuccessJson(data) };
  }

  #buildReply(reply: Reply, { id, warnings }: IncomingRequest): HttpResponse {
    const { status, body: given } = reply;
    const headers = this.buildOwnHeaders(reply);
    if (given === null || typeof given === 'string' || Buffer.isBuffer(given) || given instanceof SharedBytes) {
      if (given !== null) headers['content-type'] ??= 'text/plain; charset=utf-8';
      const isJson = status === 200 && headers['content-type'] === JSON_TYPE && warnings.length > 0;
      return { status, headers, body: isJson ? appendWarnings(given, warnings) : given };
    }
    headers['content-type'] ??= JSON_TYPE;
    const body = status < 400 ? addWarnings(given, warnings) : given;
    if (this.#spec.bare || (this.#plain && status < 400)) return { status, headers, body: JSON.stringify(body) };
    return { status, headers, body: status < 400 ? toSuccessJson(body) : toErrorJson(status, body, id) };
  }

  buildOwnHeaders({ headers, cookies }: Answer): Record<string, string | string[]> {
    const all: Record<string, string | string[]> = validateHeaders(headers);
    if (cookies.length > 0) all['set-cookie'] = cookies.map((cookie) => formatSetCookie(cookie, this.services.secure));
    return all;
  }

  reject(failure: Failure, call: IncomingRequest): HttpResponse {
    reportDenial(this.services.authenticator, failure, this.#spec.path, call);
    return this.buildFailure(failure, call);
  }

  /** 401 answers are counted per address; over the limit they become 429 (contract 00, limits). */
  buildFailure(failure: Failure, call: IncomingRequest): HttpResponse {
    const { failures } = this.services.limits;
    if (failure.status === 401 && !failures.take(call.network))
      return this.#buildResponse(failures.toFailure(call.network), call.id);
    return this.buildUncountedFailure(failure, call);
  }

  buildUncountedFailure(failure: Failure, { id }: IncomingRequest): HttpResponse {
    return this.#buildResponse(addRateLimitHeaders(addRetryAfter(failure)), id);
  }

  handleThrown(thrown: unknown, call: IncomingRequest): HttpResponse {
    const { codes, debug } = this.services;
    const classified = codes.classify(thrown, this.mounted.plugin);
    if ('failure' in classified) return this.buildFailure(classified.failure, call);
    this.logError(classified.fault, call, 'a route failed');
    return this.#buildResponse(createInternalFailure(classified.fault, debug), call.id);
  }

  #buildResponse(failure: Failure, id: string): HttpResponse {
    const answer = buildFailureResponse(failure, id, this.#spec.bare);
    this.services.timings.countError(failure.code);
    this.#spec.onRefused?.(failure.code);
    const more = failure.status === 429 ? this.#spec.limits?.refused : undefined;
    if (more) answer.headers = { ...more(Number(answer.headers['retry-after'])), ...answer.headers };
    return answer;
  }

  logError(thrown: unknown, call: IncomingRequest, what: string): void {
    this.services.log.error(
      { request_id: call.id, method: call.method, route: this.#spec.path, plugin: this.mounted.plugin, err: thrown },
      `${what}: ${getErrorText(thrown)}`,
    );
  }
}
