/** Limits for a route's calls: a place among the requests at work, and tokens of a bucket (contract 00, limits). */
import type { OpenBucket, RateClass, RouteSpec } from '../../../ports/http.js';
import type { AccessPolicy } from '../access/access-policy.js';
import { OPEN_COST } from '../limits/body-budget.js';
import type { RequestPlace } from '../limits/in-flight.js';
import { Failure } from '../wire/failure.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { senderOf } from './sender.js';
import type { RouteServices } from './services.js';

/** Of a body: each part of this size is charged like a call. */
const BYTES_OF_UNIT = 128 * 1024;

export class RouteLimits {
  readonly rate: RateClass;
  /** The route lets callers without a credential in, or asks for one by HTTP Basic. */
  readonly open: boolean;
  readonly #bucket: OpenBucket;
  readonly #own: NonNullable<RouteSpec['limits']>;

  constructor(
    spec: RouteSpec,
    policy: AccessPolicy,
    private readonly services: Pick<RouteServices, 'inFlight' | 'limits'>,
  ) {
    this.#own = spec.limits ?? {};
    this.open = policy.public || policy.basic !== null;
    this.rate = spec.limits?.rate ?? (this.open ? 'public' : 'api');
    this.#bucket = spec.limits?.bucket ?? (policy.basic === null ? 'rest' : 'store');
  }

  /** Counts an intake's body by its size, inflated: a few kilobytes may be megabytes. Null when the call may go on. */
  checkBytes(call: IncomingRequest): Failure | null {
    const key = this.rate === 'intake' ? this.#key(call) : null;
    const units = Math.ceil((call.heldBytes - OPEN_COST) / BYTES_OF_UNIT);
    if (units <= 1 || key === null) return null;
    // What is not stored uses up no category.
    const { limits } = this.services;
    return this.byCategory ? limits.checkCalls(key, units, 1) : limits.check(this.rate, key, units, 1);
  }

  /** A place among the requests at work; null when there is none. Probes are answered however full the service is. */
  place(call: IncomingRequest): RequestPlace | null {
    const { inFlight } = this.services;
    if (this.rate === 'none') return inFlight.admit(null);
    return inFlight.enter(this.open ? call.network : null);
  }

  /** Counts the call. Null when it may go on. */
  check(call: IncomingRequest): Failure | null {
    const { limits } = this.services;
    const key = this.#key(call);
    if (key === null || call.countedAs === this.rate) return null;
    if (this.byCategory) return limits.checkCalls(key);
    return this.rate === 'public' ? limits.checkOpen(this.#bucket, key) : limits.check(this.rate, key);
  }

  /** Whether the content of a call is counted by category. */
  get byCategory(): boolean {
    return this.#own.categories !== undefined;
  }

  /** Counts the content of a call whose body is read. Null when the call may go on. */
  checkContent(call: IncomingRequest): Failure | null {
    const { categories, cost } = this.#own;
    return categories === undefined
      ? this.#checkCost(call, cost?.(call.body) ?? 1)
      : this.#checkCategories(call, categories(call.body));
  }

  /** Sets `limited` of a call that may go on. */
  #checkCategories(call: IncomingRequest, costs: ReadonlyMap<string, number>): Failure | null {
    const key = this.#key(call);
    if (key === null) return null;
    const limited = new Map<string, number>();
    let failure: Failure | null = null;
    for (const [category, n] of costs) {
      const refused = this.services.limits.checkCategory(category, key, n);
      if (refused === null) continue;
      limited.set(category, refused.seconds);
      failure ??= refused.refusal;
    }
    if (failure === null) return null;
    call.limited = limited;
    if (limited.size < costs.size) return null;
    const { code, message, more } = failure;
    return new Failure(code, message, { ...more, headers: { ...more.headers, ...this.#own.limited?.(limited) } });
  }

  /** Counts the cost of a call beyond the one token that it has taken. Null when the call may go on. */
  #checkCost(call: IncomingRequest, cost: number): Failure | null {
    const key = this.#key(call);
    return cost > 1 && key !== null ? this.services.limits.check(this.rate, key, cost, 1) : null;
  }

  /** The bucket's key; null for calls that no bucket counts. */
  #key(call: IncomingRequest): string | null {
    if (this.rate === 'none' || call.principal.kind === 'shared_key') return null;
    return this.rate === 'public' ? call.network : senderOf(call).key;
  }
}
