/**
 * Item lists, the delta query and the projects (contract 20, endpoints; contract 00, lists). A
 * delta query's mark is the time when its first page was read, because a concurrent write may have
 * an earlier timestamp than a later page's cursor. The cursor carries the mark.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { invalidQuery } from '../../../kernel/errors.js';
import type { Item } from '../../../ports/domain/bugs.js';
import type { PullRequest } from '../../../ports/domain/forge-changes.js';
import { InvalidCursor, type Filter, type Find, type Sort } from '../../../ports/store.js';
import type { BugCaller } from '../caller.js';
import { KnownBuilds } from '../builds/known-builds.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { PageAnswer, PageRequest } from './page-request.js';
import { Parts, type Part } from './parts.js';
import { findPullRequest } from '../builds/find-pull-request.js';
import { findSimilarItems } from './similar.js';
import { ItemPlaces, type ItemSurroundings } from './item-places.js';
import { toCallerFilter, toItemSort, type ItemQuery, type SortName } from '../item/filters.js';
import { addNamedItems } from '../store/named.js';
import { Items } from '../store/items.js';
import type { ItemDoc } from '../item/model.js';
import { UNFILED_CREATION } from '../item/stored-names.js';
import { Handovers, type Handover } from '../claims/handover.js';
import { Leases } from '../claims/leases.js';
import type { LinkView } from '../links/shown.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import { LeftOutDocuments, type Warned } from '../../../ports/store/left-out.js';

export interface ListRequest extends PageRequest, ItemQuery {
  sort?: SortName;
  order?: 'asc' | 'desc';
  updated_since?: string;
}

export interface ListAnswer extends Warned {
  items: Item[];
  next_cursor: string | null;
  has_more: boolean;
  total?: number;
  server_time?: string;
}

export interface ItemDetail extends ItemSurroundings, Record<'occurrences' | 'comments' | 'activity', object[]> {
  item: Item;
  links: LinkView[];
  people: number | null;
  pull_request: PullRequestView | null;
  /** User or agent that requested a feature; null for other types. */
  requester: string | null;
  handover: Handover;
}

export interface SimilarItem extends Pick<
  Item,
  'ref' | 'title' | 'status' | 'severity' | 'resolved_in_build' | 'fix_commit' | 'untrusted_fields'
> {}

export interface Briefing extends ItemSurroundings {
  requester: string | null;
  occurrence?: object;
  similar: SimilarItem[];
}

export interface PullRequestView extends PullRequest {
  untrusted_fields: string[];
}

const OUTSIDE_OF_PULL_REQUEST = ['url', 'title', 'author'];
const LAST = 10;
const DELTA: Sort = [['updated_at', 'asc']];
const MARKED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)~(.*)$/s;

const MAX_SIMILAR = 3;
/** Words searched for similar items, few because a claim waits for them. */
const FEW_WORDS = 2;

const similarView = ({ ref, title, status, severity, resolved_in_build, fix_commit = null }: ItemDoc): SimilarItem => ({
  ref,
  title,
  status,
  severity,
  resolved_in_build,
  fix_commit,
  untrusted_fields: ['title', 'resolved_in_build', 'fix_commit'],
});

@injectable()
export class Lists {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Items) private readonly items: Items,
    @inject(Leases) private readonly leases: Leases,
    @inject(KnownBuilds) private readonly known: KnownBuilds,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(Parts) private readonly parts: Parts,
    @inject(Handovers) private readonly handovers: Handovers,
    @inject(ItemPlaces) private readonly around: ItemPlaces,
  ) {}

  /** @throws ServiceError insufficient_scope, invalid_request; InvalidCursor */
  async list(caller: BugCaller, request: ListRequest): Promise<ListAnswer> {
    await this.leases.writeExpired();
    const filter = await this.filterOf(caller, request);
    return request.updated_since === undefined
      ? this.#page(filter, request)
      : this.#delta(filter, request, request.updated_since);
  }

  /**
   * Converts the caller's query to a store filter.
   * @throws ServiceError insufficient_scope
   */
  async filterOf(caller: BugCaller, query: ItemQuery): Promise<Filter> {
    const own = caller.project === null ? query : { ...query, project: query.project ?? [caller.project] };
    return toCallerFilter(caller, query.q === undefined ? own : await addNamedItems(this.deps, own));
  }

  async #page(filter: Filter, request: ListRequest): Promise<ListAnswer> {
    const sort = toItemSort(request.sort, request.order);
    const answer = await this.#rows({ filter, sort, limit: request.limit ?? 50, after: request.cursor ?? null });
    return request.include_total === true ? { ...answer, total: await this.deps.items.count(filter) } : answer;
  }

  async #delta(query: Filter, request: ListRequest, since: string): Promise<ListAnswer> {
    if (request.sort !== undefined || request.order !== undefined) {
      throw invalidQuery({ sort: 'a delta query is always ordered by updated_at' });
    }
    const marked = request.cursor ? readMarked(request.cursor) : null;
    const server_time = marked?.mark ?? this.watermark.safe();
    const filter: Filter = { ...query, updated_at: { gte: this.watermark.since(since) } };
    const page = await this.#rows({ filter, sort: DELTA, limit: request.limit ?? 50, after: marked?.after ?? null });
    const next_cursor = page.next_cursor && writeMarked(server_time, page.next_cursor);
    const answer: ListAnswer = { ...page, next_cursor, server_time };
    return request.include_total === true ? { ...answer, total: await this.deps.items.count(filter) } : answer;
  }

  async #rows(query: Find): Promise<ListAnswer> {
    const left = new LeftOutDocuments();
    const page = await this.deps.items.find({ ...query, damaged: left.tell });
    const items = await this.items.views(page.items, left.tell);
    return { items, next_cursor: page.next, has_more: page.next !== null, ...left.warned };
  }

  /**
   * Returns similar items, nearest first (similar-items.ts).
   * @throws ServiceError not_found, insufficient_scope
   */
  async similar(name: string, caller: BugCaller, limit: number): Promise<Item[]> {
    return this.items.views(await findSimilarItems(this.deps, await this.items.need(name, caller), limit));
  }

  /**
   * Returns an item with the last ten entries of each part.
   * @throws ServiceError not_found, insufficient_scope
   */
  async detail(
    name: string,
    caller: BugCaller,
    { occurrences: wanted = LAST }: { occurrences?: number } = {},
  ): Promise<ItemDetail> {
    const doc = await this.items.need(name, caller);
    const last = async (part: Part, limit = LAST): Promise<object[]> => {
      if (limit === 0) return [];
      const page: PageAnswer = await this.parts.partOf(doc.id, part, { limit });
      return page.items;
    };
    const item = await this.items.view(doc);
    const [surroundings, occurrences, comments, activity, links, pull_request, requester, handover] = await Promise.all(
      [
        this.around.of(item, doc),
        last('occurrences', wanted),
        last('comments'),
        last('activity'),
        this.parts.links(doc, caller),
        this.#pullRequest(doc),
        this.#requester(item, doc),
        this.handovers.of(doc),
      ],
    );
    await this.leases.shown(doc, caller);
    const { people } = item;
    const parts = { occurrences, comments, activity, links };
    return { item, ...surroundings, people, ...parts, pull_request, requester, handover };
  }

  /**
   * Returns what an agent reads first about a claimed item. A failure loses the briefing, never the
   * claim token.
   */
  async briefing(item: Item): Promise<Partial<Briefing>> {
    try {
      return await this.#brief(item);
    } catch (err) {
      this.deps.log.error({ err, item: item.id }, 'claimed item answered without its briefing');
      return {};
    }
  }

  async #brief(item: Item): Promise<Briefing> {
    const stored = await this.deps.items.get(item.id);
    const [places, requester, occurrence, similar] = await Promise.all([
      this.around.of(item, stored ?? {}),
      this.#requester(item, stored),
      this.parts.newest(item.id),
      stored === null ? [] : findSimilarItems(this.deps, stored, MAX_SIMILAR, FEW_WORDS),
    ]);
    return { ...places, requester, ...(occurrence && { occurrence }), similar: similar.map(similarView) };
  }

  async #requester({ id, type }: Pick<Item, 'id' | 'type'>, stored: ItemDoc | null): Promise<string | null> {
    if (type !== 'feature') return null;
    return stored?.[UNFILED_CREATION] ?? (await this.deps.activity.get(id))?.actor ?? null;
  }

  async #pullRequest({ project, pr_url }: ItemDoc): Promise<PullRequestView | null> {
    const found = pr_url ? await findPullRequest(this.deps, project, pr_url) : null;
    if (found === null) return null;
    const { heard_at: _, ...pull } = found;
    return { ...pull, untrusted_fields: OUTSIDE_OF_PULL_REQUEST };
  }

  async projects(
    caller: BugCaller,
  ): Promise<{ slug: string; name: string; open_count: number; latest_build: string | null }[]> {
    await this.leases.writeExpired();
    const [all, open] = await Promise.all([
      this.deps.projects.list(),
      this.deps.items.groupCount('project', { status: 'open' }),
    ]);
    const counts = new Map(open.map(({ key, n }) => [key, n]));
    const shown = all.filter(({ slug, archived }) => !archived && (caller.project === null || caller.project === slug));
    return Promise.all(
      shown.map(async ({ slug, name }) => ({
        slug,
        name,
        open_count: counts.get(slug) ?? 0,
        latest_build: await this.known.latest(slug),
      })),
    );
  }
}

const writeMarked = (mark: string, after: string): string => Buffer.from(`${mark}~${after}`).toString('base64url');

function readMarked(cursor: string): { mark: string; after: string } {
  const [, mark, after] = MARKED.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  if (mark === undefined || after === undefined) throw new InvalidCursor();
  return { mark, after };
}
