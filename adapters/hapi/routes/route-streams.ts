import { EventStreamAnswer, FileAnswer } from '../../../ports/http.js';
import type { AccessPolicy } from '../access/access-policy.js';
import { SESSION_COOKIE } from '../access/csrf.js';
import { fileResponse } from '../streams/file-response.js';
import { cookieOf } from '../wire/cookies.js';
import { Failure, OVERLOADED } from '../wire/failure.js';
import type { HttpResponse } from '../wire/http-response.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import type { RouteAnswers } from './route-answers.js';
import { listenerOf, strangerOf } from './sender.js';
import type { RouteServices } from './services.js';

type Services = Pick<RouteServices, 'authenticator' | 'secure' | 'streams'>;

export class RouteStreams {
  constructor(
    private readonly policy: AccessPolicy,
    private readonly answers: RouteAnswers,
    private readonly services: Services,
  ) {}

  async response(answer: FileAnswer | EventStreamAnswer, call: IncomingRequest): Promise<HttpResponse> {
    const { places, events, buffers, stallMs } = this.services.streams;
    const place = places.enter(strangerOf(call));
    if (place === null) return this.answers.uncounted(OVERLOADED, call);
    const closed = (): void => place.leave();
    const failed = (thrown: unknown): void => this.answers.log(thrown, call, 'a stream failed');
    try {
      const own = this.answers.ownHeaders(answer);
      const rules = { stallMs, buffers, failed, closed, place };
      const response =
        answer instanceof FileAnswer
          ? await fileResponse(answer.file, call.method, call.raw.req.headers, own, rules)
          : events.response(this.#watched(answer, call), own, call.method === 'HEAD', listenerOf(call), rules);
      if (!(response instanceof Failure)) return response;
      closed();
      return this.answers.refusal(response, call);
    } catch (thrown) {
      closed();
      throw thrown;
    }
  }

  /** Adds repeated session checks, because a stream outlives the check of its credential. */
  #watched(answer: EventStreamAnswer, call: IncomingRequest): EventStreamAnswer {
    const { principal } = call;
    if (principal.kind !== 'session') return answer;
    const { authenticator, secure } = this.services;
    const cookie = cookieOf(call.raw.req.headers['cookie'], SESSION_COOKIE, secure) ?? '';
    const { alive, ...options } = answer.options;
    const stillOpen = async (): Promise<boolean> => {
      const now = await authenticator.session(cookie);
      return now !== null && this.policy.refuses(now) === null && (alive === undefined || (await alive()));
    };
    return new EventStreamAnswer(answer.events, { ...options, alive: stillOpen });
  }
}
