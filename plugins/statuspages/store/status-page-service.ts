import {
  inject,
  injectable,
  StoreConflict,
  type Principal,
  type Collection,
  type Clock,
  type Ids,
  type PasswordHasher,
} from '../../../kernel/contract/index.js';
import { conflict, denied, invalid, owned, ServiceError } from '../../../kernel/errors.js';
import { readLogo } from '../../../lib/brand/logo.js';
import { findChangedFields } from '../../../lib/changed-fields.js';
import { isTimeZone } from '../../../lib/local-time.js';
import { collectAll } from '../../../lib/paging.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import type { AuditFields, AuditLog } from '../../../ports/domain/audit.js';
import { canSetHost, getPrincipalName, getTokenProject } from '../caller.js';
import { DEPS, type LogoDoc } from '../deps.js';
import {
  hasPassword,
  MAX_PASSWORD_BYTES,
  MAX_PAGE_MONITORS,
  toComponent,
  toStatusPageView,
  type PageFields,
  type PagePassword,
  type StatusPageDoc,
  type StatusPageView,
} from '../model/status-page.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { WatchdogApi } from '../../../ports/domain/watchdog.js';
import type { MailQueue } from '../../../ports/domain/mail/mail-queue.js';
import type { SubscriberDoc } from '../model/subscriber.js';
import type { AnnouncementDoc } from '../model/announcement.js';

const MAX_PAGES = 200;
const CONFLICT_MESSAGES = { slug: 'is the slug of another status page', host: 'is used by another status page' };

@injectable()
export class StatusPageService {
  constructor(
    @inject(DEPS.pages) private readonly pages: Collection<StatusPageDoc>,
    @inject(DEPS.announcements) private readonly announcements: Collection<AnnouncementDoc>,
    @inject(DEPS.logos) private readonly logos: Collection<LogoDoc>,
    @inject(DEPS.subscribers) private readonly subscribers: Collection<SubscriberDoc>,
    @inject(DEPS.mail) private readonly mail: () => MailQueue | undefined,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.watchdog) private readonly watchdog: Pick<WatchdogApi, 'listConditions'>,
    @inject(DEPS.projects) private readonly projects: Pick<ProjectDirectory, 'get' | 'list'>,
    @inject(DEPS.audit) private readonly audit: Pick<AuditLog, 'record'>,
    @inject(DEPS.hasher) private readonly hasher: PasswordHasher,
    @inject(DEPS.baseUrl) private readonly baseUrl: () => string,
    @inject(DEPS.hosts) private readonly hosts: readonly string[],
    @inject(DEPS.timezone) private readonly timezone: string,
  ) {}

  /** Lists by title. A project token sees only the pages of its project. */
  async list(principal: Principal): Promise<StatusPageView[]> {
    const pages = await this.listStored(principal);
    return pages
      .map((page) => this.toView(page))
      .toSorted((a, b) => a.title.localeCompare(b.title, 'en') || (a.slug < b.slug ? -1 : 1));
  }

  listStored(principal: Principal): Promise<StatusPageDoc[]> {
    const own = getTokenProject(principal);
    return collectAll(this.pages, { filter: own === null ? {} : { project: own }, limit: MAX_PAGES });
  }

  /**
   * Checks fields without writing; not project, components and password.
   * @param id null for a new page
   * @throws ServiceError validation_failed, insufficient_scope
   */
  async check(
    fields: PageFields & { slug: string; title: string },
    id: string | null,
    principal: Principal,
  ): Promise<void> {
    const { project: _project, components: _components, password: _password, ...rest } = fields;
    const before = id === null ? null : await this.pages.get(id);
    await this.#applyFields(before ?? this.#createBlank(fields, principal), rest, principal);
  }

  async isPassword(password: string | null | undefined, hash: string | null | undefined): Promise<boolean> {
    if (typeof password !== 'string' || typeof hash !== 'string') return false;
    return (await this.hasher.verify(password, hash)).ok;
  }

  toView(page: StatusPageDoc): StatusPageView {
    return toStatusPageView(page, this.baseUrl());
  }

  /**
   * @param name id or slug
   * @throws ServiceError not_found
   */
  async getPage(name: string, principal: Principal): Promise<StatusPageDoc> {
    const found = (await this.pages.get(name)) ?? (await this.findBySlug(name));
    return owned(getTokenProject(principal), found, ({ project }) => project, `status page ${name.slice(0, 64)}`);
  }

  findById(id: string): Promise<StatusPageDoc | null> {
    return this.pages.get(id);
  }

  acceptsSubscribers({ subscriptions }: StatusPageDoc): boolean {
    return subscriptions === true && this.mail()?.isConfigured === true;
  }

  async findBySlug(slug: string): Promise<StatusPageDoc | null> {
    const { items } = await this.pages.find({ filter: { slug }, limit: 1 });
    return items[0] ?? null;
  }

  listWithCustomHost(): Promise<StatusPageDoc[]> {
    return collectAll(this.pages, { filter: { host: { gt: '' } }, limit: MAX_PAGES });
  }

  /** @throws ServiceError validation_failed, unknown_project, insufficient_scope, conflict */
  async create(fields: PageFields & { slug: string; title: string }, principal: Principal): Promise<StatusPageDoc> {
    const { pages, audit } = this;
    if ((await pages.count({})) >= MAX_PAGES) throw conflict(`The limit of ${MAX_PAGES} status pages is reached.`);
    const page = await this.#applyFields(this.#createBlank(fields, principal), fields, principal);
    await this.#runUniqueWrite(() => pages.insert(page), fields);
    await audit.record(principal, 'status_page.created', page.slug, { published: page.published });
    return page;
  }

  #createBlank({ slug, title }: { slug: string; title: string }, principal: Principal): StatusPageDoc {
    const { ids, clock, timezone } = this;
    const at = clock.iso();
    return {
      id: ids.uuid(),
      slug,
      title,
      text: null,
      seller: null,
      colour: null,
      timezone,
      indexed: false,
      published: false,
      project: getTokenProject(principal),
      components: [],
      logo_type: null,
      preview_key: ids.secret(24),
      created_by: getPrincipalName(principal),
      created_at: at,
      updated_at: at,
      rev: 1,
    };
  }

  /** @throws ServiceError as `create`, and not_found */
  async change(name: string, fields: PageFields, principal: Principal): Promise<StatusPageDoc> {
    const before = await this.getPage(name, principal);
    const after = await this.#applyFields(before, fields, principal);
    await this.#save(before, after, fields);
    const change = findChangedFields(toAuditFields(before), toAuditFields(after), Object.keys(fields));
    const what = before.published === after.published ? 'changed' : after.published ? 'published' : 'withdrawn';
    await this.audit.record(principal, `status_page.${what}`, after.slug, {}, change);
    return after;
  }

  /** The page last, so that an aborted deletion can be repeated. */
  async remove(name: string, principal: Principal): Promise<StatusPageDoc> {
    const { pages, announcements, subscribers, logos, audit, mail } = this;
    const page = await this.getPage(name, principal);
    await announcements.remove({ page_id: page.id });
    await subscribers.remove({ page_id: page.id });
    await mail()?.drop({ subject_id: page.id });
    await logos.remove({ id: page.id });
    await pages.remove({ id: page.id });
    await audit.record(principal, 'status_page.deleted', page.slug, { title: page.title });
    return page;
  }

  /**
   * @param bytes null removes the logo
   * @throws ServiceError not_found, validation_failed
   */
  async setLogo(name: string, bytes: Buffer | null, principal: Principal): Promise<StatusPageDoc> {
    const { logos, audit } = this;
    const before = await this.getPage(name, principal);
    const logo = bytes === null ? null : readLogo(bytes);
    if (typeof logo === 'string') throw invalid({ logo });
    const type = logo?.type ?? null;
    // A page never references a missing logo.
    if (logo !== null) {
      const set = { type, data: logo.bytes.toString('base64') };
      await logos.change({ id: before.id }, { set }, { upsert: true });
    }
    const after = { ...before, logo_type: type };
    await this.#save(before, after, {});
    if (type === null) await logos.remove({ id: before.id });
    await audit.record(principal, 'status_page.changed', after.slug, { logo: type });
    return after;
  }

  async #save(before: StatusPageDoc, after: StatusPageDoc, fields: PageFields): Promise<void> {
    const { id: _id, rev: _rev, ...rest } = after;
    const set = { ...rest, host: after.host, updated_at: this.clock.iso() };
    const update = { set, inc: { rev: 1 } };
    const saved = await this.#runUniqueWrite(
      () => this.pages.change({ id: before.id, rev: before.rev }, update as never),
      fields,
    );
    if (saved === null) throw conflict('Someone else has just changed this page. Reload it and try again.');
  }

  /** @throws ServiceError conflict */
  async #runUniqueWrite<T>(write: () => Promise<T>, { slug, host }: PageFields): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      const field = slug !== undefined && !error.index.includes('host') ? 'slug' : 'host';
      const value = field === 'slug' ? slug : host;
      throw conflict(`${value} ${CONFLICT_MESSAGES[field]}.`, { fields: { [field]: CONFLICT_MESSAGES[field] } });
    }
  }

  async #applyFields(before: StatusPageDoc, fields: PageFields, principal: Principal): Promise<StatusPageDoc> {
    const { components, host, text, seller, password, project = before.project, ...rest } = fields;
    const timezone = rest.timezone ?? before.timezone;
    if (!isTimeZone(timezone)) throw invalid({ timezone: 'is not a time zone' });
    const { host: known, ...page } = before;
    const own = host === undefined ? known : (host ?? undefined);
    if (own !== known && !canSetHost(principal)) {
      const unlisted = [known, own].find((name) => name !== undefined && !this.hosts.includes(name));
      if (unlisted !== undefined)
        throw denied(`The host ${unlisted} is not in \`statuspages.hosts\`; an administrator can set any host.`);
    }
    if (own !== undefined && own === parseHost(this.baseUrl()))
      throw invalid({ host: 'is the address of the service itself' });
    const after: StatusPageDoc = {
      ...page,
      ...rest,
      timezone,
      title: cleanText(rest.title ?? before.title),
      text: text === undefined ? before.text : text ? cleanText(text) : null,
      seller: seller === undefined ? before.seller : seller ? cleanText(seller) : null,
      project: await this.#resolveProject(project, principal),
      components: components === undefined ? before.components : components.map(toComponent),
      ...(own !== undefined && { host: own }),
    };
    if (rest.subscriptions === true && this.mail()?.isConfigured !== true)
      throw invalid({ subscriptions: 'requires e-mail: set notifications.smtp_host' });
    if (password !== undefined && password !== null && Buffer.byteLength(password) > MAX_PASSWORD_BYTES)
      throw invalid({ password: `must have at most ${MAX_PASSWORD_BYTES} bytes` });
    if (components !== undefined || after.project !== before.project) await this.#validateComponents(after);
    return password === undefined ? after : { ...after, password: await this.#hashPassword(password) };
  }

  async #hashPassword(password: string | null): Promise<PagePassword | null> {
    const { ids, hasher } = this;
    return password === null ? null : { id: ids.secret(16), hash: await hasher.hash(password) };
  }

  async #resolveProject(slug: string | null, principal: Principal): Promise<string | null> {
    const own = getTokenProject(principal);
    if (own !== null && own !== slug) throw denied(`The token is for the project ${own} only.`);
    if (slug === null || (await this.projects.get(slug)) !== null) return slug;
    const fields = { project: 'is not the slug of a project' };
    throw new ServiceError('unknown_project', `Project ${slug} not found.`, { fields });
  }

  /** @throws ServiceError validation_failed */
  async #validateComponents({ components, project }: StatusPageDoc): Promise<void> {
    const names = new Set<string>();
    components.forEach(({ name, sources, subtree }, i) => {
      if (names.has(name)) throw invalid({ [`components.${i}.name`]: `${name} already exists` });
      if (sources.length === 0 && subtree === null)
        throw invalid({ [`components.${i}.sources`]: 'must contain a monitor, or a `subtree`' });
      names.add(name);
    });
    const sources = components.flatMap((one) => [...one.sources, one.subtree ?? []].flat());
    const query = { sources, project, days: 1, limit: MAX_PAGE_MONITORS };
    const tooMany = { components: `contain more than ${MAX_PAGE_MONITORS} monitors in total` };
    // First, so that a project token learns nothing about subtrees of another project's monitor.
    const named = await this.watchdog.listConditions({ ...query, subtrees: [] });
    if (!named.complete) throw invalid(tooMany);
    const known = new Set(named.monitors.map((one) => one.source));
    components.forEach((one, i) => {
      const missing = one.sources.filter((source) => !known.has(source));
      if (missing.length > 0)
        throw invalid({ [`components.${i}.sources`]: `unknown: ${missing.join(', ').slice(0, 200)}` });
      if (one.subtree !== null && !known.has(one.subtree))
        throw invalid({ [`components.${i}.subtree`]: `unknown: ${one.subtree}` });
    });
    const subtrees = components.flatMap(({ subtree }) => subtree ?? []);
    if (!(await this.watchdog.listConditions({ ...query, subtrees })).complete) throw invalid(tooMany);
  }
}

const parseHost = (url: string): string | null => (URL.canParse(url) ? new URL(url).hostname : null);

const toAuditFields = ({ components, preview_key: _key, password, ...page }: StatusPageDoc): AuditFields => ({
  ...(page as unknown as AuditFields),
  password: hasPassword({ password }) ? 'set' : null,
  host: page.host ?? null,
  components: components.map(({ name }) => name).join(', '),
});
