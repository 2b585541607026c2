/**
 * The services of the webhooks plugin over a store of the test's choice, with the real network
 * adapter.
 */
import { MemoryStore } from '../../../adapters/memory/store.js';
import { DataCipher } from '../../../adapters/node/cipher.js';
import { SystemClock } from '../../../adapters/node/clock.js';
import { RandomIds } from '../../../adapters/node/ids.js';
import { NodeOutbound, type OutboundOptions } from '../../../adapters/node/outbound.js';
import { ContainerScope } from '../../../kernel/container.js';
import type { WebhookDelivery } from '../../../plugins/webhooks/model/delivery.js';
import type { WebhookDeps } from '../../../plugins/webhooks/deps.js';
import plugin from '../../../plugins/webhooks/plugin.js';
import { buildServices, type WebhookServices } from '../../../plugins/webhooks/services.js';
import type { Webhook, WebhookFields } from '../../../plugins/webhooks/model/webhook.js';
import type { ProjectInfo } from '../../../ports/domain/projects.js';
import type { DomainEvent } from '../../../ports/events.js';
import type { SessionPrincipal } from '../../../ports/http/index.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { fakeMetrics, RecordingLog } from '../../kit/fakes.js';
import { PluginStores } from '../../support/stores.js';
import { toReplaceable } from '../../support/replaceable.js';

export const ADMIN: SessionPrincipal = {
  kind: 'session',
  session_id: 's',
  account_id: 'a',
  username: 'admin',
  role: 'admin',
};

/** The system's time, moved forward by the test; what has elapsed moves with it. */
export class MovedClock extends SystemClock {
  constructor(private ahead = 0) {
    super();
  }
  #elapsed = 0;
  override now(): number {
    return super.now() + this.ahead + this.#elapsed;
  }
  override iso(): string {
    return new Date(this.now()).toISOString();
  }
  override monotonic(): number {
    return super.monotonic() + this.#elapsed;
  }
  advance(ms: number): void {
    this.#elapsed += ms;
  }
  /** Puts the time of day ahead or back; what has elapsed stays. */
  put(ms: number): void {
    this.ahead += ms;
  }
}

export interface Fixture extends WebhookServices {
  store: DocumentStore;
  deps: WebhookDeps;
  clock: MovedClock;
  log_lines: RecordingLog;
  audited: string[];
  /** Audit entries that say what changed. */
  changes: { action: string; before: object; after: object }[];
  /** What the plugin itself emitted. */
  emitted: { event: string; data: unknown; id: string | undefined }[];
  hook(url: string, more?: Partial<WebhookFields>): Promise<Webhook>;
  emit(event?: Partial<DomainEvent>): Promise<string>;
  deliveries(webhook?: string): Promise<WebhookDelivery[]>;
  /** Looks for what is due and waits for the workers. */
  turn(): Promise<void>;
  /** As the plugin stops. */
  close(): Promise<void>;
}

const STORE = new PluginStores('webhooks', plugin.collections ?? []);
const { toStoredName: nameOf } = STORE;
export const { ensureCollections } = STORE;

const slugs = ['shop', 'blog'];

interface Options {
  clock?: MovedClock;
  outbound?: OutboundOptions;
  change?: Partial<WebhookDeps>;
}

/** A process of its own over the store; its workers are open and it polls by itself. */
export function fixtureOn(store: DocumentStore, { clock = new MovedClock(), outbound, change }: Options = {}): Fixture {
  const ids = new RandomIds(clock);
  const log = new RecordingLog();
  const audited: string[] = [];
  const changes: Fixture['changes'] = [];
  const emitted: Fixture['emitted'] = [];
  const deps: WebhookDeps = {
    webhooks: store.collection(nameOf('webhooks')),
    events: store.collection(nameOf('events')),
    deliveries: store.collection(nameOf('deliveries')),
    clock,
    ids,
    log,
    emit: (event, data, more) => {
      emitted.push({ event, data, id: more?.id });
      return Promise.resolve(true);
    },
    cipher: new DataCipher('data-key-for-tests-only-0123456789abcdef'),
    outbound: new NodeOutbound(outbound),
    metrics: fakeMetrics,
    audit: {
      record: (_principal, action, _target, _details, change) => {
        audited.push(action);
        if (change !== undefined) changes.push({ action, ...change });
        return Promise.resolve();
      },
      listRecent: () => Promise.resolve({ items: [], next: null }),
      listByTarget: () => Promise.resolve({ items: [], next: null }),
    },
    projects: {
      get: (slug) => Promise.resolve(slugs.includes(slug) ? ({ slug } as ProjectInfo) : null),
      findByNumber: () => Promise.resolve(null),
      list: () => Promise.resolve(slugs.map((slug) => ({ slug, name: slug }) as ProjectInfo)),
      requireAccepting: () => Promise.reject(new Error('not asked')),
    },
    attemptData: () => [],
    policy: { mode: 'private-ok', allow: [] },
    registered: () => ['bug.created', 'chat.said', 'webhook.test'],
    webhook_key: '',
    version: '0.0.0-test',
    baseUrl: () => 'https://aos.example',
    random: () => 0.5,
    ...change,
  };
  const services = buildServices(ContainerScope.createRoot({}), toReplaceable(deps));
  services.workers.start();
  services.poller.start();
  return {
    ...services,
    store,
    deps,
    clock,
    log_lines: log,
    audited,
    changes,
    emitted,
    hook: async (url, more = {}) => {
      const given = { name: 'receiver', url, events: '*', ...more };
      return (await services.registry.create(ADMIN, given)).webhook;
    },
    emit: async (event = {}) => {
      const id = event.id ?? `evt_${ids.uuid()}`;
      const whole = {
        event: 'bug.created',
        timestamp: clock.iso(),
        project_slug: null,
        data: { ref: 'x-1' },
        ...event,
      };
      await services.fanout.store({ ...whole, id });
      return id;
    },
    deliveries: async (webhook) => {
      const filter = webhook === undefined ? {} : { webhook_id: webhook };
      return (await deps.deliveries.find({ filter, limit: 1000 })).items;
    },
    turn: async () => {
      await services.poller.poll();
      await services.workers.waitUntilIdle();
    },
    close: async () => {
      await Promise.all([services.poller.stop(), services.workers.stop()]);
      await services.fanout.waitUntilIdle();
    },
  };
}

/** The engines that the tests with several processes run on. */
export const STORES = STORE.all;

export async function memoryFixture(options: Options = {}): Promise<Fixture> {
  return fixtureOn(await ensureCollections(new MemoryStore()), options);
}
