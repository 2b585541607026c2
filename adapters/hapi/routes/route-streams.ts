import { EventStreamAnswer, FileAnswer } from '../../../ports/http/index.js';
import type { AccessPolicy } from '../access/access-policy.js';
import { SESSION_COOKIE } from '../access/csrf.js';
import { createFileResponse } from '../streams/file-response.js';
import { getCookie } from '../wire/cookies.js';
import { Failure, OVERLOADED } from '../wire/failure.js';
import type { HttpResponse } from '../wire/http-response.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import type { RouteResponseBuilder } from './route-response-builder.js';
import { getListenerKey, getAnonymousNetwork } from './caller-keys.js';
import type { RouteServices } from './route-services.js';

type Services = Pick<RouteServices, 'authenticator' | 'secure' | 'streams'>;

export class RouteStreams {
  constructor(
    private readonly policy: AccessPolicy,
    private readonly answers: RouteResponseBuilder,
    private readonly services: Services,
  ) {}

  async buildResponse(answer: FileAnswer | EventStreamAnswer, call: IncomingRequest): Promise<HttpResponse> {
    const { places, events, buffers, stallMs } = this.services.streams;
    const place = places.acquire(getAnonymousNetwork(call));
    if (place === null) return this.answers.buildUncountedFailure(OVERLOADED, call);
    const closed = (): void => place.release();
    const failed = (thrown: unknown): void => this.answers.logError(thrown, call, 'a stream failed');
    try {
      const own = this.answers.buildOwnHeaders(answer);
      const rules = { stallMs, buffers, failed, closed, place };
      const response =
        answer instanceof FileAnswer
          ? await createFileResponse(answer.file, call.method, call.raw.req.headers, own, rules)
          : events.open(this.#watchSession(answer, call), own, call.method === 'HEAD', getListenerKey(call), rules);
      if (!(response instanceof Failure)) return response;
      closed();
      return this.answers.buildFailure(response, call);
    } catch (thrown) {
      closed();
      throw thrown;
    }
  }

  /** Adds repeated session checks, because a stream outlives the check of its credential. */
  #watchSession(answer: EventStreamAnswer, call: IncomingRequest): EventStreamAnswer {
    const { principal } = call;
    if (principal.kind !== 'session') return answer;
    const { authenticator, secure } = this.services;
    const cookie = getCookie(call.raw.req.headers['cookie'], SESSION_COOKIE, secure) ?? '';
    const { alive, ...options } = answer.options;
    const stillOpen = async (): Promise<boolean> => {
      const now = await authenticator.authenticateSession(cookie);
      return now !== null && this.policy.check(now) === null && (alive === undefined || (await alive()));
    };
    return new EventStreamAnswer(answer.events, { ...options, alive: stillOpen });
  }
}
