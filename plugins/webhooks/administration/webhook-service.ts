import { findChangedFields, type ChangedFields } from '../../../lib/changed-fields.js';
import {
  inject,
  injectable,
  type Principal,
  type Collection,
  type Clock,
  type Ids,
} from '../../../kernel/contract/index.js';
import { conflict, notFound, owned } from '../../../kernel/errors.js';
import { collectAll } from '../../../lib/paging.js';
import type { Filter } from '../../../ports/store/index.js';
import { getVisibleError, getVisibleExcerpt, type WebhookDelivery } from '../model/delivery.js';
import { DEPS } from '../deps.js';
import { WebhookCache } from '../registry/webhook-cache.js';
import { buildPayload, addPageUrl, type StoredEvent } from '../model/stored-event.js';
import { WebhookPauseService } from '../registry/webhook-pause.js';
import { DeliveryWorkerPool } from '../deliveries/delivery-workers.js';
import { DeliveryLog } from '../deliveries/delivery-log.js';
import { TEST_EVENT } from '../model/event-names.js';
import { isAdmin, getUrlOrigin, getBoundProject, getReaderAccess } from '../model/reader-access.js';
import { WebhookSecretService } from '../sending/webhook-secret-service.js';
import { type DeliveryResult, WebhookSender } from '../sending/webhook-sender.js';
import { createWebhookSecret } from '../sending/signature.js';
import { WebhookFieldValidator } from './webhook-field-validator.js';
import { getUrlHost, toWebhookView, type Webhook, type WebhookFields, type WebhookView } from '../model/webhook.js';
import { findReadable, type ReadablePage } from '../../../ports/store/skipped-documents.js';
import type { AuditLog } from '../../../ports/domain/audit.js';

type WebhookTestResult = Pick<DeliveryResult, 'status_code' | 'duration_ms' | 'error' | 'excerpt'>;

@injectable()
export class WebhookService {
  constructor(
    @inject(DEPS.webhooks) private readonly webhooks: Collection<Webhook>,
    @inject(DEPS.events) private readonly events: Collection<StoredEvent>,
    @inject(DEPS.deliveries) private readonly deliveries: Collection<WebhookDelivery>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.audit) private readonly audit: AuditLog,
    @inject(DEPS.baseUrl) private readonly baseUrl: () => string,
    @inject(WebhookSecretService) private readonly secrets: WebhookSecretService,
    @inject(WebhookSender) private readonly sender: WebhookSender,
    @inject(WebhookCache) private readonly directory: WebhookCache,
    @inject(WebhookPauseService) private readonly pause: WebhookPauseService,
    @inject(DeliveryWorkerPool) private readonly workers: DeliveryWorkerPool,
    @inject(DeliveryLog) private readonly log: DeliveryLog,
    @inject(WebhookFieldValidator) private readonly choices: WebhookFieldValidator,
  ) {}

  async listPage(
    principal: Principal,
    query: { limit: number; cursor?: string | undefined },
  ): Promise<ReadablePage<WebhookView> & { count: () => Promise<number> }> {
    const project = getBoundProject(principal);
    const filter: Filter = project === null ? {} : { project_slug: project };
    const webhooks = this.webhooks;
    const page = await findReadable(webhooks, {
      filter,
      sort: [['id', 'desc']],
      limit: query.limit,
      after: query.cursor ?? null,
    });
    const items = await Promise.all(page.items.map((webhook) => this.toView(principal, webhook)));
    return { ...page, items, count: () => webhooks.count(filter) };
  }

  /** Lists the webhooks that the principal may see, with their secrets. */
  async listWithSecrets(principal: Principal): Promise<{ webhook: Webhook; secret: string | null }[]> {
    const project = getBoundProject(principal);
    const filter: Filter = project === null ? {} : { project_slug: project };
    const webhooks = await collectAll(this.webhooks, { filter, limit: 200 });
    return webhooks.map((webhook) => ({ webhook, secret: this.secrets.decryptSecret(webhook) }));
  }

  /**
   * Checks fields without writing, and returns them as stored.
   * @throws ServiceError validation_failed, insufficient_scope
   */
  check(principal: Principal, input: WebhookFields & Pick<Webhook, 'name' | 'url'>, before: Webhook | null): void {
    const events = this.choices.validateEvents(input.events ?? []);
    this.choices.assertCanSubscribe(principal, events);
    this.choices.validateUrl(input.url);
    const enabled = input.enabled ?? before?.enabled ?? true;
    const secret = input.secret === undefined ? (before === null ? 'generated' : before.secret) : input.secret;
    this.choices.assertSignable({ enabled, secret });
  }

  async listBroken(): Promise<Webhook[]> {
    const page = await this.webhooks.find({ filter: { disabled_at: { gt: '' } }, limit: 50 });
    return page.items.filter(({ enabled }) => !enabled);
  }

  /** @throws ServiceError not_found, insufficient_scope */
  async getWebhook(principal: Principal, id: string): Promise<Webhook> {
    const webhook = await this.webhooks.get(id);
    return owned(getBoundProject(principal), webhook, ({ project_slug }) => project_slug, `webhook ${id}`);
  }

  async toView(principal: Principal, webhook: Webhook): Promise<WebhookView> {
    const last = await this.log.findLastAttempted(principal, webhook.id);
    const view = toWebhookView(webhook, last, this.clock.iso());
    return isAdmin(principal) ? view : { ...view, url: getUrlOrigin(webhook.url) };
  }

  /**
   * @returns `secret` only when generated here
   * @throws ServiceError validation_failed, unknown_project, insufficient_scope (also from
   *   `assertCanSubscribe`)
   */
  async create(
    principal: Principal,
    input: WebhookFields & { name: string; url: string; events: string | string[] },
  ): Promise<{ webhook: Webhook; secret: string | null }> {
    const id = this.ids.uuid();
    const given = input.project_slug === undefined ? getBoundProject(principal) : input.project_slug;
    const generated = input.secret === undefined ? createWebhookSecret() : null;
    const secret = generated ?? input.secret ?? null;
    const now = this.clock.iso();
    const events = this.choices.validateEvents(input.events);
    this.choices.assertCanSubscribe(principal, events);
    const webhook: Webhook = {
      id,
      name: input.name,
      url: this.choices.validateUrl(input.url),
      project_slug: await this.choices.validateProject(principal, given),
      events,
      enabled: input.enabled ?? true,
      secret: secret === null ? null : this.secrets.encrypt(id, secret),
      previous: null,
      failures: 0,
      disabled_reason: null,
      disabled_at: null,
      resuming: false,
      ...(input.managed && { managed: input.managed }),
      created_by: getCallerName(principal),
      created_at: now,
      updated_at: now,
    };
    this.choices.assertSignable(webhook);
    await this.webhooks.insert(webhook);
    await this.#record(principal, 'created', webhook);
    return { webhook, secret: generated };
  }

  /** @throws ServiceError not_found, validation_failed, unknown_project, insufficient_scope */
  async change(principal: Principal, id: string, input: WebhookFields): Promise<Webhook> {
    const before = await this.#getChangeable(principal, id);
    const set: Partial<Webhook> = {};
    if (input.name !== undefined) set.name = input.name;
    if (input.url !== undefined) set.url = this.choices.validateUrl(input.url);
    if (input.events !== undefined) {
      set.events = this.choices.validateEvents(input.events);
      this.choices.assertCanSubscribe(principal, set.events);
    }
    if (input.project_slug !== undefined)
      set.project_slug = await this.choices.validateProject(principal, input.project_slug);
    if (input.secret !== undefined) {
      set.secret = input.secret === null ? null : this.secrets.encrypt(id, input.secret);
      set.previous = this.secrets.toPreviousSecret(before);
    }
    const enabled = input.enabled ?? before.enabled;
    this.choices.assertSignable({ enabled, secret: set.secret === undefined ? before.secret : set.secret });
    let after = before;
    if (Object.keys(set).length > 0) {
      after = await this.#write(id, { ...set });
      await this.#record(
        principal,
        'changed',
        after,
        {},
        findChangedFields(toAuditFields(before), toAuditFields(after), Object.keys(set), SECRET_FIELDS),
      );
    }
    if (input.enabled === undefined || input.enabled === before.enabled) return after;
    return input.enabled ? this.#enable(principal, after) : this.#disable(principal, after);
  }

  async remove(principal: Principal, id: string): Promise<void> {
    const webhook = await this.getWebhook(principal, id);
    await this.webhooks.remove({ id });
    this.directory.invalidate(id);
    await this.deliveries.remove({ webhook_id: id });
    await this.#record(principal, 'deleted', webhook);
  }

  /** Sends held deliveries; an enabled webhook is only reset. */
  async enable(principal: Principal, id: string): Promise<Webhook> {
    return this.#enable(principal, await this.#getChangeable(principal, id));
  }

  async disable(principal: Principal, id: string): Promise<Webhook> {
    const webhook = await this.getWebhook(principal, id);
    return webhook.enabled ? this.#disable(principal, webhook) : webhook;
  }

  /** The previous one stays valid for a day. */
  async rotateSecret(principal: Principal, id: string): Promise<{ webhook: Webhook; secret: string }> {
    const before = await this.#getChangeable(principal, id);
    const secret = createWebhookSecret();
    const previous = this.secrets.toPreviousSecret(before);
    const webhook = await this.#write(id, { secret: this.secrets.encrypt(id, secret), previous });
    await this.#record(
      principal,
      'secret_rotated',
      webhook,
      {},
      findChangedFields(before, webhook, ['secret'], SECRET_FIELDS),
    );
    return { webhook, secret };
  }

  /**
   * Not recorded, also for a disabled webhook.
   * @throws ServiceError validation_failed
   */
  async sendTest(principal: Principal, id: string): Promise<WebhookTestResult> {
    const webhook = await this.getWebhook(principal, id);
    this.choices.assertSignable({ ...webhook, enabled: true });
    const { ids, clock, baseUrl } = this;
    const event = {
      id: `evt_${ids.uuid()}`,
      event: TEST_EVENT,
      timestamp: clock.iso(),
      project_slug: webhook.project_slug,
      data: { webhook_id: id, name: webhook.name, message: 'A test delivery from AOS.' },
    };
    const result = await this.sender.send(webhook, {
      event_id: event.id,
      event: TEST_EVENT,
      body: buildPayload(addPageUrl(event, baseUrl())),
      delivery_id: ids.uuid(),
      attempt: 1,
    });
    await this.#record(principal, 'tested', webhook, { result: result.error ?? 'success' });
    const { status_code, duration_ms } = result;
    const sight = getReaderAccess(principal);
    return {
      status_code,
      duration_ms,
      error: getVisibleError(result, sight),
      excerpt: getVisibleExcerpt(result, sight),
    };
  }

  /**
   * Reuses the ids; a waiting one is sent immediately.
   * @throws ServiceError not_found, conflict, insufficient_scope
   */
  async redeliver(principal: Principal, id: string): Promise<WebhookDelivery> {
    const delivery = await this.log.getDelivery(principal, id);
    const webhook = await this.#getChangeable(principal, delivery.webhook_id);
    this.choices.assertCanSubscribe(principal, [delivery.event]);
    if (!webhook.enabled) throw conflict('The webhook is disabled; enable it first.');
    if ((await this.events.get(delivery.event_id)) === null)
      throw conflict('The event was deleted and cannot be redelivered.');
    const now = this.clock.iso();
    const changed = await this.deliveries.change(
      { id, lease_by: { exists: false } },
      { set: { state: 'pending', failures: 0, next_at: now, updated_at: now }, unset: ['held_at'] },
    );
    if (changed === null) throw conflict('This delivery is already in progress.');
    await this.#record(principal, 'redelivered', webhook, { delivery: id });
    this.workers.wake(webhook.id);
    return changed.doc;
  }

  /** @throws ServiceError not_found, insufficient_scope */
  async #getChangeable(principal: Principal, id: string): Promise<Webhook> {
    const webhook = await this.getWebhook(principal, id);
    this.choices.assertCanSubscribe(principal, webhook.events);
    return webhook;
  }

  async #enable(principal: Principal, webhook: Webhook): Promise<Webhook> {
    this.choices.assertSignable({ ...webhook, enabled: true });
    const set = { enabled: true, failures: 0, disabled_reason: null, disabled_at: null, resuming: true };
    const enabled = await this.#write(webhook.id, set);
    await this.pause.resume(enabled);
    await this.#record(principal, 'enabled', enabled, {}, findChangedFields(webhook, enabled, ['enabled']));
    this.workers.wake(webhook.id);
    return enabled;
  }

  async #disable(principal: Principal, webhook: Webhook): Promise<Webhook> {
    const disabled = await this.#write(webhook.id, { enabled: false, resuming: false });
    await this.pause.hold(webhook.id);
    await this.#record(principal, 'disabled', disabled, {}, findChangedFields(webhook, disabled, ['enabled']));
    return disabled;
  }

  async #write(id: string, set: Partial<Webhook>): Promise<Webhook> {
    const update = { set: { ...set, updated_at: this.clock.iso() } };
    const changed = await this.webhooks.change({ id }, update);
    if (changed === null) throw notFound(`webhook ${id}`);
    this.directory.invalidate(id);
    return changed.doc;
  }

  #record(
    principal: Principal,
    action: string,
    webhook: Webhook,
    details: Record<string, string> = {},
    change?: ChangedFields,
  ): Promise<void> {
    const target = { name: webhook.name, ...details };
    return this.audit.record(principal, `webhook.${action}`, webhook.id, target, change);
  }
}

function getCallerName(principal: Principal): string {
  if (principal.kind === 'session') return principal.username;
  return principal.kind === 'token' ? `token ${principal.name}` : principal.kind;
}

const SECRET_FIELDS = ['secret', 'previous'];

/** Without the URL's path, which may be secret. */
const toAuditFields = (webhook: Webhook): object => ({ ...webhook, url: getUrlHost(webhook.url) });
