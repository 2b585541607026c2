/** Double opt-in by mail. */
import {
  inject,
  injectable,
  StoreConflict,
  type Principal,
  type Collection,
  type Clock,
  type Ids,
  type Cipher,
} from '../../../kernel/contract/index.js';
import { conflict, notFound } from '../../../kernel/errors.js';
import { iteratePages } from '../../../lib/paging.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { findReadable, type ReadablePage } from '../../../ports/store/skipped-documents.js';
import { DEPS } from '../deps.js';
import type { StatusPageDoc } from '../model/status-page.js';
import {
  formatUnsubscribeToken,
  hashConfirmationToken,
  MAX_SUBSCRIBERS,
  parseUnsubscribeToken,
  toSubscriberKey,
  type SubscriberDoc,
} from '../model/subscriber.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { MailQueue } from '../../../ports/domain/mail/mail-queue.js';

const CONFIRMATION_LIFETIME_MS = DAY_MS;
const BATCH_SIZE = 200;

type PageReference = Pick<StatusPageDoc, 'id'>;

@injectable()
export class SubscriberService {
  readonly #linkKey: Buffer;

  constructor(
    @inject(DEPS.subscribers) private readonly subscribers: Collection<SubscriberDoc>,
    @inject(DEPS.mail) private readonly mail: () => MailQueue | undefined,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.audit) private readonly audit: Pick<AuditLog, 'record'>,
    @inject(DEPS.cipher) cipher: Pick<Cipher, 'seal' | 'open' | 'derive'>,
  ) {
    this.#linkKey = cipher.derive('statuspages.unsubscribe');
  }

  listPage({ id: page_id }: PageReference, limit: number, cursor: string | null): Promise<ReadablePage<SubscriberDoc>> {
    const sort = [['created_at', 'desc']] as const;
    return findReadable(this.subscribers, { filter: { page_id }, sort, limit, after: cursor });
  }

  count({ id: page_id }: PageReference): Promise<number> {
    return this.subscribers.count({ page_id, confirmed_at: { gt: '' } });
  }

  listConfirmed({ id: page_id }: PageReference): AsyncGenerator<SubscriberDoc[]> {
    return iteratePages(this.subscribers, { filter: { page_id, confirmed_at: { gt: '' } }, limit: BATCH_SIZE });
  }

  /**
   * @returns with a confirmation token, or without one when already confirmed
   * @throws ServiceError conflict when the page is full
   */
  async addPending(
    { id: page_id }: PageReference,
    email: string,
  ): Promise<{ subscriber: SubscriberDoc; token: string | null }> {
    const { subscribers, ids, clock } = this;
    // Existing addresses get the same response.
    for (const confirmed_at of [null, { gt: '' }])
      if ((await subscribers.count({ page_id, confirmed_at })) >= MAX_SUBSCRIBERS) throw createFullError();
    const key = toSubscriberKey(page_id, email);
    const token = ids.secret(43);
    const pending = {
      confirm_hash: hashConfirmationToken(token),
      confirm_until: toIsoString(clock.now() + CONFIRMATION_LIFETIME_MS),
    };
    const renewed = await subscribers.change({ key, confirmed_at: null }, { set: pending });
    if (renewed !== null) return { subscriber: renewed.doc, token };
    const subscriber: SubscriberDoc = {
      id: ids.uuid(),
      page_id,
      key,
      email,
      created_at: clock.iso(),
      confirmed_at: null,
      ...pending,
    };
    try {
      await subscribers.insert(subscriber);
      return { subscriber, token };
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      const { items } = await subscribers.find({ filter: { key }, limit: 1 });
      if (items[0] === undefined) throw error;
      return { subscriber: items[0], token: null };
    }
  }

  /** Returns null when unknown, used or expired. */
  async findPending({ id: page_id }: PageReference, token: string): Promise<SubscriberDoc | null> {
    const { subscribers, clock } = this;
    const { items } = await subscribers.find({ filter: { confirm_hash: hashConfirmationToken(token) }, limit: 1 });
    const [found] = items;
    const isLive = found?.page_id === page_id && (found.confirm_until ?? '') > clock.iso();
    return isLive ? found : null;
  }

  /**
   * Returns false when unknown, used or expired.
   * @throws ServiceError conflict when the page is full
   */
  async confirm(page: PageReference, token: string): Promise<boolean> {
    const found = await this.findPending(page, token);
    if (found === null) return false;
    if ((await this.count(page)) >= MAX_SUBSCRIBERS) throw createFullError();
    const { id, confirm_hash } = found;
    const set = { confirmed_at: this.clock.iso(), confirm_hash: null, confirm_until: null };
    return (await this.subscribers.change({ id, confirm_hash }, { set })) !== null;
  }

  createUnsubscribeToken({ id }: SubscriberDoc): string {
    return formatUnsubscribeToken(id, this.#linkKey);
  }

  /**
   * `subscriber` is null after its removal.
   * @returns null when the token is invalid
   */
  async findByUnsubscribeToken(token: string): Promise<{ id: string; subscriber: SubscriberDoc | null } | null> {
    const id = parseUnsubscribeToken(token, this.#linkKey);
    return id === null ? null : { id, subscriber: await this.subscribers.get(id) };
  }

  /** Idempotent. */
  async unsubscribe(id: string): Promise<void> {
    await this.subscribers.remove({ id });
    await this.mail()?.drop({ recipient_id: id });
  }

  /** @throws ServiceError not_found */
  async remove(page: StatusPageDoc, id: string, principal: Principal): Promise<void> {
    const found = await this.subscribers.get(id);
    if (found?.page_id !== page.id) throw notFound(`subscriber ${id.slice(0, 64)}`);
    await this.unsubscribe(id);
    await this.audit.record(principal, 'status_page.subscriber_removed', page.slug, { subscriber: id });
  }

  async removeExpired(): Promise<void> {
    await this.subscribers.remove({ confirmed_at: null, confirm_until: { lte: this.clock.iso() } });
  }
}

const createFullError = () => conflict('This page does not accept more subscribers.');
