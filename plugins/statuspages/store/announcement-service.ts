import {
  inject,
  injectable,
  type Principal,
  type Collection,
  type Clock,
  type Ids,
} from '../../../kernel/contract/index.js';
import { conflict, invalid, notFound } from '../../../kernel/errors.js';
import { collectAll } from '../../../lib/paging.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { normalizeTime } from '../../../lib/time.js';
import { getPrincipalName } from '../caller.js';
import { DEPS } from '../deps.js';
import {
  isFinalState,
  getNextMailTime,
  formatMailMarker,
  MAX_UPDATES,
  listStates,
  type AnnouncementDoc,
  type AnnouncementFields,
  type AnnouncementKind,
  type AnnouncementMail,
  type AnnouncementState,
  type AnnouncementUpdate,
} from '../model/announcement.js';
import type { StatusPageDoc } from '../model/status-page.js';
import { SubscriberNotifier } from '../subscriptions/subscriber-notifier.js';
import { findReadable, type ReadablePage } from '../../../ports/store/skipped-documents.js';
import type { AuditLog } from '../../../ports/domain/audit.js';

const BATCH_SIZE = 200;
const MAX_ANNOUNCEMENTS = 2_000;

export interface AnnouncementChange {
  title?: string;
  components?: string[];
  starts_at?: string;
  ends_at?: string | null;
}

@injectable()
export class AnnouncementService {
  constructor(
    @inject(DEPS.announcements) private readonly announcements: Collection<AnnouncementDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.audit) private readonly audit: Pick<AuditLog, 'record'>,
    @inject(SubscriberNotifier) private readonly news: SubscriberNotifier,
  ) {}

  async listPage(
    { id: page_id }: StatusPageDoc,
    limit: number,
    cursor: string | null = null,
  ): Promise<ReadablePage<AnnouncementDoc>> {
    const announcements = this.announcements;
    return findReadable(announcements, { filter: { page_id }, sort: [['starts_at', 'desc']], limit, after: cursor });
  }

  async listVisible({ id: page_id }: StatusPageDoc, since: string): Promise<AnnouncementDoc[]> {
    const announcements = this.announcements;
    const [open, recent] = await Promise.all([
      collectAll(announcements, { filter: { page_id, ended_at: null }, limit: BATCH_SIZE }),
      announcements.find({
        filter: { page_id, starts_at: { gte: since } },
        sort: [['starts_at', 'desc']],
        limit: BATCH_SIZE,
      }),
    ]);
    const found = new Map([...open, ...recent.items].map((one) => [one.id, one]));
    return [...found.values()].toSorted((a, b) => (a.starts_at < b.starts_at ? 1 : -1));
  }

  /** @throws ServiceError not_found */
  async getAnnouncement({ id: page_id }: StatusPageDoc, id: string): Promise<AnnouncementDoc> {
    const found = await this.announcements.get(id);
    if (found?.page_id !== page_id) throw notFound(`announcement ${id.slice(0, 64)}`);
    return found;
  }

  /** @throws ServiceError validation_failed, conflict */
  async create(page: StatusPageDoc, fields: AnnouncementFields, principal: Principal): Promise<AnnouncementDoc> {
    const { announcements, ids, clock, audit } = this;
    const { kind, title, text } = fields;
    const state = fields.state ?? (kind === 'incident' ? 'investigating' : 'planned');
    validateState(kind, state);
    const starts_at = parseTime('starts_at', fields.starts_at) ?? clock.iso();
    const ends_at = parseTime('ends_at', fields.ends_at);
    validateTimes(kind, starts_at, ends_at);
    if ((await announcements.count({ page_id: page.id })) >= MAX_ANNOUNCEMENTS)
      throw conflict(`A page can have at most ${MAX_ANNOUNCEMENTS} announcements: delete old ones first.`);
    const update = this.#buildUpdate(state, text, principal);
    const doc: AnnouncementDoc = {
      id: ids.uuid(),
      page_id: page.id,
      kind,
      title: cleanText(title),
      components: parseComponents(page, fields.components ?? []),
      starts_at,
      ends_at,
      ended_at: isFinalState(state) ? update.at : null,
      updates: [update],
      created_at: update.at,
    };
    const { mail, marker } = toPendingMail(update);
    const mail_due_at = getNextMailTime(doc, update.at);
    await announcements.insert({ ...doc, mails: [mail], mails_at: marker, mail_due_at });
    await audit.record(principal, 'announcement.created', doc.id, { page: page.slug, title: doc.title, state });
    this.news.wake();
    return doc;
  }

  /** @throws ServiceError not_found, validation_failed */
  async change(
    page: StatusPageDoc,
    id: string,
    fields: AnnouncementChange,
    principal: Principal,
  ): Promise<AnnouncementDoc> {
    const before = await this.getAnnouncement(page, id);
    const { title, components } = fields;
    const after: AnnouncementDoc = {
      ...before,
      ...(title !== undefined && { title: cleanText(title) }),
      ...(components !== undefined && { components: parseComponents(page, components) }),
      starts_at: parseTime('starts_at', fields.starts_at) ?? before.starts_at,
      ends_at: fields.ends_at === undefined ? before.ends_at : parseTime('ends_at', fields.ends_at),
    };
    validateTimes(after.kind, after.starts_at, after.ends_at);
    const { title: named, components: about, starts_at, ends_at } = after;
    const mail_due_at = getNextMailTime(after, this.clock.iso());
    const set = { title: named, components: about, starts_at, ends_at, mail_due_at };
    await this.announcements.change({ id }, { set });
    await this.audit.record(principal, 'announcement.changed', id, { page: page.slug, title: named });
    return after;
  }

  /** @throws ServiceError not_found, validation_failed, conflict */
  async addUpdate(
    page: StatusPageDoc,
    id: string,
    { state, text }: { state: AnnouncementState; text: string },
    principal: Principal,
  ): Promise<AnnouncementDoc> {
    const before = await this.getAnnouncement(page, id);
    validateState(before.kind, state);
    if (before.updates.length >= MAX_UPDATES)
      throw conflict(`An announcement can have at most ${MAX_UPDATES} updates.`);
    const update = this.#buildUpdate(state, text, principal);
    const ended_at = isFinalState(state) ? update.at : null;
    const { mail, marker } = toPendingMail(update);
    const mail_due_at = getNextMailTime({ ...before, ended_at, updates: [update] }, update.at);
    const push = { updates: { each: [update], keep: MAX_UPDATES }, mails: { each: [mail] } };
    const set = { ended_at, mails_at: marker, mail_due_at };
    const after = await this.announcements.change({ id }, { set, push });
    if (after === null) throw notFound(`announcement ${id.slice(0, 64)}`);
    await this.audit.record(principal, 'announcement.updated', id, { page: page.slug, state });
    this.news.wake();
    return after.doc;
  }

  /** @throws ServiceError not_found */
  async remove(page: StatusPageDoc, id: string, principal: Principal): Promise<void> {
    const { title } = await this.getAnnouncement(page, id);
    await this.announcements.remove({ id });
    await this.audit.record(principal, 'announcement.deleted', id, { page: page.slug, title });
  }

  #buildUpdate(state: AnnouncementState, text: string, principal: Principal): AnnouncementUpdate {
    const { ids, clock } = this;
    return { id: ids.uuid(), at: clock.iso(), state, text: cleanText(text), by: getPrincipalName(principal) };
  }
}

function toPendingMail({ id, at, state, text }: AnnouncementUpdate): { mail: AnnouncementMail; marker: string } {
  const mail = { id, at, state, text };
  return { mail, marker: formatMailMarker(mail) };
}

/** @throws ServiceError validation_failed */
function validateState(kind: AnnouncementKind, state: AnnouncementState): void {
  const states = listStates(kind);
  if (!states.includes(state)) throw invalid({ state: `must be one of ${states.join(', ')}` });
}

/** @throws ServiceError validation_failed */
function validateTimes(kind: AnnouncementKind, starts_at: string, ends_at: string | null): void {
  if (kind === 'incident' && ends_at !== null)
    throw invalid({ ends_at: 'is only for planned work: an incident ends when it is resolved' });
  if (kind === 'maintenance' && ends_at === null) throw invalid({ ends_at: 'is required for planned work' });
  if (ends_at !== null && ends_at <= starts_at) throw invalid({ ends_at: 'must be later than starts_at' });
}

/** @throws ServiceError validation_failed */
function parseTime(field: string, text: string | null | undefined): string | null {
  if (text === undefined || text === null) return null;
  const time = normalizeTime(text);
  if (time === null) throw invalid({ [field]: 'must be an RFC 3339 timestamp' });
  return time;
}

/** @throws ServiceError validation_failed */
function parseComponents({ components }: StatusPageDoc, names: readonly string[]): string[] {
  const known = new Set(components.map(({ name }) => name));
  const missing = names.find((name) => !known.has(name));
  if (missing !== undefined) throw invalid({ components: `has no ${missing.slice(0, 64)}` });
  return [...new Set(names)];
}
