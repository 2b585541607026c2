/**
 * Always read whole; for attempts at most `CACHE_TTL_MS` old, otherwise webhooks that another
 * process disabled would get deliveries.
 */
import { inject, injectable, type Collection, type Clock } from '../../../kernel/contract/index.js';
import { iterateItems } from '../../../lib/paging.js';
import type { WebhookReceivers } from '../../../ports/domain/webhooks.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { DEPS } from '../deps.js';
import type { Webhook } from '../model/webhook.js';

const CACHE_TTL_MS = 200;
const PAGE_SIZE = 1_000;

interface WebhookSnapshot {
  /** `clock.monotonic()`. */
  at: number;
  webhooks: Map<string, Readonly<Webhook>>;
}

@injectable()
export class WebhookCache implements WebhookReceivers {
  readonly #reads = new SingleFlight<WebhookSnapshot>();
  readonly #changed = new Map<string, number>();
  #known: WebhookSnapshot | null = null;

  constructor(
    @inject(DEPS.webhooks) private readonly webhooks: Collection<Webhook>,
    @inject(DEPS.clock) private readonly clock: Clock,
  ) {}

  async listEnabled(): Promise<Readonly<Webhook>[]> {
    return [...(await this.#read()).webhooks.values()];
  }

  async find(id: string): Promise<Readonly<Webhook> | null> {
    const { webhooks, clock } = this;
    const old = this.#known === null || clock.monotonic() - this.#known.at > CACHE_TTL_MS;
    const known = old ? await this.#read() : this.#known;
    const recent = known !== null && known.at > (this.#changed.get(id) ?? 0) ? known.webhooks.get(id) : undefined;
    return recent ?? webhooks.get(id);
  }

  /** @see WebhookReceivers */
  async isReceiver(id: string, event: string, project: string): Promise<boolean> {
    const webhook = await this.webhooks.get(id);
    return webhook !== null && isReceiver(webhook, event, project);
  }

  /** @see WebhookReceivers */
  async hasReceiver(event: string, project: string): Promise<boolean> {
    return (await this.listEnabled()).some((webhook) => isReceiver(webhook, event, project));
  }

  /** It changed here, or a failed attempt may have disabled it. */
  invalidate(id: string): void {
    this.#changed.set(id, this.clock.monotonic());
  }

  #read(): Promise<WebhookSnapshot> {
    return this.#reads.fresh('webhooks', () => this.#load());
  }

  async #load(): Promise<WebhookSnapshot> {
    const known: WebhookSnapshot = { at: this.clock.monotonic(), webhooks: new Map() };
    const enabled = iterateItems(this.webhooks, { filter: { enabled: true }, limit: PAGE_SIZE });
    for await (const webhook of enabled) known.webhooks.set(webhook.id, webhook);
    for (const [id, at] of this.#changed) if (at < known.at) this.#changed.delete(id);
    this.#known = known;
    return known;
  }
}

const isReceiver = ({ events, project_slug }: Readonly<Webhook>, event: string, project: string): boolean =>
  events.includes(event) && (project_slug === null || project_slug === project);
