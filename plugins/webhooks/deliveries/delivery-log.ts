import {
  inject,
  injectable,
  type HealthResult,
  type Principal,
  type Collection,
  type Clock,
} from '../../../kernel/contract/index.js';
import { denied, owned } from '../../../kernel/errors.js';
import { toIsoString } from '../../../lib/time.js';
import type { Filter } from '../../../ports/store/index.js';
import {
  getFirstDeliveryId,
  DELIVERY_STATES,
  WAITING_STATES,
  type WebhookDelivery,
  type DeliveryState,
} from '../model/delivery.js';
import { DEPS } from '../deps.js';
import type { StoredEvent } from '../model/stored-event.js';
import { getBoundProject } from '../model/reader-access.js';
import { getUrlHost, type Webhook } from '../model/webhook.js';
import { findReadable, type ReadablePage } from '../../../ports/store/skipped-documents.js';

export const LOG_RETENTION_MS = 14 * 24 * 3_600_000;
const REMOVAL_BATCH_SIZE = 1_000;
/** The workers are overloaded. */
const OVERDUE_AFTER_MS = 300_000;

export interface LogPageQuery {
  limit: number;
  cursor?: string;
}

export interface DeliveryQuery extends LogPageQuery {
  state?: DeliveryState;
  event?: string;
}

export interface EventQuery extends LogPageQuery {
  event?: string;
  project_slug?: string;
  since?: string;
  until?: string;
}

type CountedPage<T> = ReadablePage<T> & { count: () => Promise<number> };

@injectable()
export class DeliveryLog {
  constructor(
    @inject(DEPS.webhooks) private readonly webhooks: Collection<Webhook>,
    @inject(DEPS.events) private readonly events: Collection<StoredEvent>,
    @inject(DEPS.deliveries) private readonly deliveries: Collection<WebhookDelivery>,
    @inject(DEPS.clock) private readonly clock: Clock,
  ) {}

  /**
   * Newest event first. A webhook may have belonged to another project, so a project token sees
   * only its project's deliveries.
   */
  async listDeliveries(
    principal: Principal,
    webhook: string,
    query: DeliveryQuery,
  ): Promise<CountedPage<WebhookDelivery>> {
    const { state, event, limit, cursor } = query;
    const filter: Filter = {
      webhook_id: webhook,
      ...buildOwnerFilter(principal),
      ...(state && { state }),
      ...(event !== undefined && { event }),
    };
    const deliveries = this.deliveries;
    const page = await findReadable(deliveries, { filter, sort: [['id', 'desc']], limit, after: cursor ?? null });
    return { ...page, count: () => deliveries.count(filter) };
  }

  /** @throws ServiceError not_found, insufficient_scope */
  async getDelivery(principal: Principal, id: string): Promise<WebhookDelivery> {
    const delivery = await this.deliveries.get(id);
    return owned(getBoundProject(principal), delivery, ({ project_slug }) => project_slug, `delivery ${id}`);
  }

  async findLastAttempted(principal: Principal, webhook: string): Promise<WebhookDelivery | null> {
    const page = await this.deliveries.find({
      filter: { webhook_id: webhook, attempted_at: { gt: '' }, ...buildOwnerFilter(principal) },
      sort: [['attempted_at', 'desc']],
      limit: 1,
    });
    return page.items[0] ?? null;
  }

  async listEvents(principal: Principal, query: EventQuery): Promise<CountedPage<StoredEvent>> {
    const own = getBoundProject(principal);
    const requestedProject = query.project_slug;
    if (own !== null && requestedProject !== undefined && requestedProject !== own)
      throw denied(`The token is for the project ${own} only.`);
    const project = own ?? requestedProject;
    const filter: Filter = {
      ...(query.event !== undefined && { event: query.event }),
      ...(project !== undefined && { project_slug: project }),
      timestamp: { gte: query.since ?? '', ...(query.until !== undefined && { lt: query.until }) },
    };
    const events = this.events;
    const sort = [['timestamp', 'desc']] as const;
    const page = await findReadable(events, { filter, sort, limit: query.limit, after: query.cursor ?? null });
    return { ...page, count: () => events.count(filter) };
  }

  findEvent(id: string): Promise<StoredEvent | null> {
    return this.events.get(id);
  }

  async countByState(webhook: string): Promise<Record<string, number>> {
    const counted = await this.deliveries.groupCount('state', { webhook_id: webhook });
    return Object.fromEntries(
      DELIVERY_STATES.map((state) => [state, counted.find(({ key }) => key === state)?.n ?? 0]),
    );
  }

  async removeExpired(signal?: AbortSignal): Promise<number> {
    const { webhooks, events, deliveries, clock } = this;
    const before = toIsoString(clock.now() - LOG_RETENTION_MS);
    let n = 0;
    const all = async (remove: () => Promise<number>): Promise<void> => {
      let removed = REMOVAL_BATCH_SIZE;
      while (removed === REMOVAL_BATCH_SIZE) {
        removed = await remove();
        n += removed;
        if (signal?.aborted === true) return;
      }
    };
    await all(() =>
      deliveries.remove({ id: { lt: getFirstDeliveryId(clock.now() - LOG_RETENTION_MS) } }, REMOVAL_BATCH_SIZE),
    );
    await all(() => events.remove({ stored_at: { lt: before } }, REMOVAL_BATCH_SIZE));
    for (const { key } of await deliveries.groupCount('webhook_id')) {
      if (typeof key !== 'string' || (await webhooks.get(key)) !== null) continue;
      await all(() => deliveries.remove({ webhook_id: key }, REMOVAL_BATCH_SIZE));
    }
    return n;
  }

  countQueued(): Promise<number> {
    return this.deliveries.count({ state: { in: WAITING_STATES } });
  }

  async getOldestAgeSeconds(): Promise<number> {
    const waiting = await this.#findOldest();
    const now = this.clock.now();
    return waiting.reduce((age, { created_at }) => Math.max(age, (now - Date.parse(created_at)) / 1000), 0);
  }

  async #findOldest(): Promise<WebhookDelivery[]> {
    const deliveries = this.deliveries;
    const pages = await Promise.all(
      WAITING_STATES.map((state) => deliveries.find({ filter: { state }, sort: [['id', 'asc']], limit: 1 })),
    );
    return pages.flatMap(({ items }) => items);
  }

  /** With hosts instead of URLs (contract 95, health). */
  async getHealth(): Promise<HealthResult> {
    const { webhooks, clock } = this;
    const now = clock.now();
    const [queued, oldest, broken] = await Promise.all([
      this.countQueued(),
      this.#findOldest(),
      webhooks.find({ filter: { disabled_at: { gt: '' } }, limit: 200 }),
    ]);
    const overdue = oldest.some(
      ({ state, updated_at }) => state === 'pending' && now - Date.parse(updated_at) > OVERDUE_AFTER_MS,
    );
    const ages = oldest.map(({ created_at }) => now - Date.parse(created_at));
    const disabled = broken.items.filter(({ enabled }) => !enabled);
    return {
      ok: disabled.length === 0 && !overdue,
      queued,
      oldest_age_seconds: ages.length === 0 ? null : Math.max(0, Math.floor(Math.max(...ages) / 1000)),
      disabled: disabled.map(({ id, name, url, disabled_reason }) => ({
        id,
        name,
        host: getUrlHost(url),
        reason: disabled_reason,
      })),
    };
  }
}

function buildOwnerFilter(principal: Principal): Filter {
  const own = getBoundProject(principal);
  return own === null ? {} : { project_slug: own };
}
