/**
 * An update and its entry in `mails` are one write. Mails are stored under derived ids, then the
 * entries are removed. After a crash the job finds the remaining ones by `mails_at`.
 */
import {
  inject,
  injectable,
  type Collection,
  type Clock,
  type Ids,
  type Logger,
} from '../../../kernel/contract/index.js';
import { iterateItems } from '../../../lib/paging.js';
import type { MailQueue } from '../../../ports/domain/mail/mail-queue.js';
import { DEPS } from '../deps.js';
import {
  getNextMailTime,
  getAnnouncementState,
  formatMailMarker,
  type AnnouncementDoc,
  type AnnouncementMail,
} from '../model/announcement.js';
import { toStatusPageView, type StatusPageDoc } from '../model/status-page.js';
import type { SubscriberDoc } from '../model/subscriber.js';
import { SubscriberService } from './subscriber-service.js';
import { renderAlreadySubscribed, renderConfirmation, renderAnnouncement, type MailText } from './mail-texts.js';

const BATCH_SIZE = 100;

@injectable()
export class SubscriberNotifier {
  #run: Promise<void> | null = null;
  #again = false;

  constructor(
    @inject(DEPS.pages) private readonly pages: Collection<StatusPageDoc>,
    @inject(DEPS.announcements) private readonly announcements: Collection<AnnouncementDoc>,
    @inject(DEPS.mail) private readonly mail: () => MailQueue | undefined,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.baseUrl) private readonly baseUrl: () => string,
    @inject(SubscriberService) private readonly subscribers: SubscriberService,
  ) {}

  wake(): void {
    this.run().catch((err: unknown) => this.log.error({ err }, 'updates could not be queued; the job will retry'));
  }

  run(): Promise<void> {
    this.#again = true;
    this.#run ??= this.#processAll().finally(() => (this.#run = null));
    return this.#run;
  }

  async waitUntilIdle(): Promise<void> {
    await this.#run?.catch(() => {});
  }

  /** @param token null when the address is already confirmed */
  async sendConfirmation(page: StatusPageDoc, subscriber: SubscriberDoc, token: string | null): Promise<void> {
    const mail = this.mail();
    if (mail === undefined) return;
    const base = this.#getPageUrl(page);
    const { unsubscribe } = this.#buildLinks(page, subscriber);
    const text =
      token === null
        ? renderAlreadySubscribed(page.title, unsubscribe)
        : renderConfirmation(page.title, `${base}/subscribe/confirm/${token}`);
    const id = `confirm:${this.ids.uuid()}`;
    await mail.enqueue([{ ...this.#toRecipientMail(page, subscriber, text, id), urgent: true }]);
  }

  async #processAll(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      await this.#enqueueDue();
      for await (const doc of iterateItems(this.announcements, {
        filter: { mails_at: { gt: '' } },
        limit: BATCH_SIZE,
      }))
        await this.#sendAnnouncement(doc);
    }
  }

  async #enqueueDue(): Promise<void> {
    const { announcements, clock, ids } = this;
    const now = clock.iso();
    for await (const doc of iterateItems(announcements, {
      filter: { mail_due_at: { gt: '', lte: now } },
      limit: BATCH_SIZE,
    })) {
      const { id, mail_due_at = null } = doc;
      const entry: AnnouncementMail = { id: ids.uuid(), at: now, state: getAnnouncementState(doc, now), text: null };
      const set = { mails_at: formatMailMarker(entry), mail_due_at: getNextMailTime(doc, now) };
      await announcements.change({ id, mail_due_at }, { set, push: { mails: { each: [entry] } } });
    }
  }

  async #sendAnnouncement(doc: AnnouncementDoc): Promise<void> {
    const { pages, announcements } = this;
    const page = await pages.get(doc.page_id);
    const mail = this.mail();
    const isSent = page !== null && page.published && page.subscriptions === true && mail?.isConfigured === true;
    if (isSent) for (const entry of doc.mails ?? []) await this.#enqueue(mail, page, doc, entry);
    const ids = (doc.mails ?? []).map(({ id }) => id);
    // Every new entry changes the marker.
    const left = await announcements.change(
      { id: doc.id, mails_at: doc.mails_at ?? null },
      { set: { mails_at: null }, pull: { mails: { field: 'id', in: ids } } },
    );
    if (left === null) this.#again = true;
  }

  async #enqueue(mail: MailQueue, page: StatusPageDoc, doc: AnnouncementDoc, entry: AnnouncementMail): Promise<void> {
    for await (const batch of this.subscribers.listConfirmed(page))
      await mail.enqueue(
        batch
          .filter(({ confirmed_at }) => confirmed_at !== null && confirmed_at <= entry.at)
          .map((subscriber) => {
            const links = {
              page: toStatusPageView(page, this.baseUrl()).url,
              ...this.#buildLinks(page, subscriber),
            };
            const text = renderAnnouncement(page, doc, entry, links);
            return this.#toRecipientMail(page, subscriber, text, `news:${entry.id}:${subscriber.id}`);
          }),
      );
  }

  #toRecipientMail(page: StatusPageDoc, subscriber: SubscriberDoc, text: MailText, id: string) {
    const { oneClick } = this.#buildLinks(page, subscriber);
    return {
      id,
      subject_id: page.id,
      recipient_id: subscriber.id,
      to: subscriber.email,
      ...text,
      headers: { 'List-Unsubscribe': `<${oneClick}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
      urgent: false,
    };
  }

  #getPageUrl(page: StatusPageDoc): string {
    return toStatusPageView(page, this.baseUrl()).url.replace(/\/$/, '');
  }

  #buildLinks(page: StatusPageDoc, subscriber: SubscriberDoc): { unsubscribe: string; oneClick: string } {
    const unsubscribe = `${this.#getPageUrl(page)}/unsubscribe/${this.subscribers.createUnsubscribeToken(subscriber)}`;
    return { unsubscribe, oneClick: `${unsubscribe}/one-click` };
  }
}
