/** Limits of a route's calls: request slots and token buckets (contract 00, limits). */
import type { PublicBucket, RateClass, RouteSpec } from '../../../ports/http/index.js';
import type { AccessPolicy } from '../access/access-policy.js';
import { OPEN_BODY_BYTES } from '../limits/body-budget.js';
import type { RequestSlot } from '../limits/requests-in-flight.js';
import { Failure } from '../wire/failure.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { toBodySender } from './caller-keys.js';
import type { RouteServices } from './route-services.js';

/** Each part of a body of this size is charged like a call. */
const BYTES_PER_UNIT = 128 * 1024;

export class RouteLimits {
  readonly rate: RateClass;
  readonly open: boolean;
  readonly #bucket: PublicBucket;
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

  checkBytes(call: IncomingRequest): Failure | null {
    const key = this.rate === 'intake' ? this.#getBucketKey(call) : null;
    const units = Math.ceil((call.heldBytes - OPEN_BODY_BYTES) / BYTES_PER_UNIT);
    if (units <= 1 || key === null) return null;
    const { limits } = this.services;
    return this.isCountedByCategory ? limits.checkCalls(key, units, 1) : limits.check(this.rate, key, units, 1);
  }

  /** Probes always get one. */
  acquireSlot(call: IncomingRequest): RequestSlot | null {
    const { inFlight } = this.services;
    if (this.rate === 'none') return inFlight.acquireUnlimited(null);
    return inFlight.acquire(this.open ? call.network : null);
  }

  check(call: IncomingRequest): Failure | null {
    const { limits } = this.services;
    const key = this.#getBucketKey(call);
    if (key === null || call.countedAs === this.rate) return null;
    if (this.isCountedByCategory) return limits.checkCalls(key);
    return this.rate === 'public' ? limits.checkOpenRequest(this.#bucket, key) : limits.check(this.rate, key);
  }

  get isCountedByCategory(): boolean {
    return this.#own.categories !== undefined;
  }

  checkContent(call: IncomingRequest): Failure | null {
    const { categories, cost } = this.#own;
    return categories === undefined
      ? this.#checkCost(call, cost?.(call.body) ?? 1)
      : this.#checkCategories(call, categories(call.body));
  }

  #checkCategories(call: IncomingRequest, costs: ReadonlyMap<string, number>): Failure | null {
    const key = this.#getBucketKey(call);
    if (key === null) return null;
    const limited = new Map<string, number>();
    let failure: Failure | null = null;
    for (const [category, n] of costs) {
      const rejection = this.services.limits.checkCategory(category, key, n);
      if (rejection === null) continue;
      limited.set(category, rejection.seconds);
      failure ??= rejection.refusal;
    }
    if (failure === null) return null;
    call.limited = limited;
    if (limited.size < costs.size) return null;
    const { code, message, more } = failure;
    return new Failure(code, message, { ...more, headers: { ...more.headers, ...this.#own.limited?.(limited) } });
  }

  #checkCost(call: IncomingRequest, cost: number): Failure | null {
    const key = this.#getBucketKey(call);
    return cost > 1 && key !== null ? this.services.limits.check(this.rate, key, cost, 1) : null;
  }

  #getBucketKey(call: IncomingRequest): string | null {
    if (this.rate === 'none' || call.principal.kind === 'shared_key') return null;
    return this.rate === 'public' ? call.network : toBodySender(call).key;
  }
}
