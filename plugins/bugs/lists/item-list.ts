/**
 * A delta query's mark is the time when its first page was read, because a concurrent write may
 * have an earlier timestamp than a later page's cursor; the cursor carries it (contract 20,
 * endpoints; contract 00, lists).
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { invalidQuery } from '../../../kernel/errors.js';
import type { Item } from '../../../ports/domain/bugs.js';
import type { PullRequest, PullRequests } from '../../../ports/domain/forge-changes.js';
import { InvalidCursor, type Filter, type FindQuery, type Sort, type Collection } from '../../../ports/store/index.js';
import type { BugCaller } from '../caller.js';
import { PublishedBuildRepository } from '../builds/published-builds.js';
import { DEPS } from '../deps.js';
import type { PageResponse, PageRequest } from './page-request.js';
import { ItemPartService, type ItemPart } from './item-parts.js';
import { findPullRequest } from '../builds/find-pull-request.js';
import { findSimilarItems } from './similar-items.js';
import { ItemSurroundingsService, type ItemSurroundings } from './item-surroundings.js';
import { toCallerFilter, toItemSort, type ItemQuery, type SortName } from '../item/filters.js';
import { IndirectMatchService } from '../store/indirect-matches.js';
import { ItemService } from '../store/item-service.js';
import type { ItemDoc, TextsDoc, ActivityDoc } from '../item/model.js';
import { UNFILED_CREATION_FIELD } from '../item/stored-field-names.js';
import { HandoverBuilder, type Handover } from '../claims/handover.js';
import { LeaseService } from '../claims/leases.js';
import type { LinkView } from '../links/visible-links.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import { SkippedDocuments, type ListWarnings } from '../../../ports/store/skipped-documents.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { Logger } from '../../../ports/logger.js';
import type { SearchTextDoc } from '../item/operation-documents.js';

export interface ItemListRequest extends PageRequest, ItemQuery {
  sort?: SortName;
  order?: 'asc' | 'desc';
  updated_since?: string;
}

export interface ItemListResponse extends ListWarnings {
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
  /** Null for other types than features. */
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

const UNTRUSTED_PULL_REQUEST_FIELDS = ['url', 'title', 'author'];
const DETAIL_PART_LIMIT = 10;
const DELTA_SORT: Sort = [['updated_at', 'asc']];
const DELTA_CURSOR_PATTERN = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)~(.*)$/s;

const MAX_SIMILAR_ITEMS = 3;
/** Few, because a claim waits for the search. */
const MAX_BRIEFING_WORDS = 2;

const toSimilarItem = ({
  ref,
  title,
  status,
  severity,
  resolved_in_build,
  fix_commit = null,
}: ItemDoc): SimilarItem => ({
  ref,
  title,
  status,
  severity,
  resolved_in_build,
  fix_commit,
  untrusted_fields: ['title', 'resolved_in_build', 'fix_commit'],
});

@injectable()
export class ItemListService {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
    @inject(DEPS.words) private readonly words: Collection<SearchTextDoc>,
    @inject(DEPS.activity) private readonly activity: Collection<ActivityDoc>,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.projects) private readonly projects: ProjectDirectory,
    @inject(DEPS.pullRequests) private readonly pullRequests: () => readonly PullRequests[],
    @inject(IndirectMatchService) private readonly indirectMatches: IndirectMatchService,
    @inject(ItemService) private readonly items: ItemService,
    @inject(LeaseService) private readonly leases: LeaseService,
    @inject(PublishedBuildRepository) private readonly known: PublishedBuildRepository,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(ItemPartService) private readonly parts: ItemPartService,
    @inject(HandoverBuilder) private readonly handovers: HandoverBuilder,
    @inject(ItemSurroundingsService) private readonly around: ItemSurroundingsService,
  ) {}

  /** @throws ServiceError insufficient_scope, invalid_request; InvalidCursor */
  async list(caller: BugCaller, request: ItemListRequest): Promise<ItemListResponse> {
    await this.leases.writeExpired();
    const filter = await this.toFilter(caller, request);
    return request.updated_since === undefined
      ? this.#listPage(filter, request)
      : this.#listDelta(filter, request, request.updated_since);
  }

  /** @throws ServiceError insufficient_scope */
  async toFilter(caller: BugCaller, query: ItemQuery): Promise<Filter> {
    const own = caller.project === null ? query : { ...query, project: query.project ?? [caller.project] };
    return toCallerFilter(caller, query.q === undefined ? own : await this.indirectMatches.addTo(own));
  }

  async #listPage(filter: Filter, request: ItemListRequest): Promise<ItemListResponse> {
    const sort = toItemSort(request.sort, request.order);
    const answer = await this.#loadRows({ filter, sort, limit: request.limit ?? 50, after: request.cursor ?? null });
    return request.include_total === true ? { ...answer, total: await this.itemRows.count(filter) } : answer;
  }

  async #listDelta(query: Filter, request: ItemListRequest, since: string): Promise<ItemListResponse> {
    if (request.sort !== undefined || request.order !== undefined) {
      throw invalidQuery({ sort: 'a delta query is always ordered by updated_at' });
    }
    const marked = request.cursor ? parseDeltaCursor(request.cursor) : null;
    const server_time = marked?.mark ?? this.watermark.getSafeMark();
    const filter: Filter = { ...query, updated_at: { gte: this.watermark.getStart(since) } };
    const page = await this.#loadRows({
      filter,
      sort: DELTA_SORT,
      limit: request.limit ?? 50,
      after: marked?.after ?? null,
    });
    const next_cursor = page.next_cursor && formatDeltaCursor(server_time, page.next_cursor);
    const answer: ItemListResponse = { ...page, next_cursor, server_time };
    return request.include_total === true ? { ...answer, total: await this.itemRows.count(filter) } : answer;
  }

  async #loadRows(query: FindQuery): Promise<ItemListResponse> {
    const left = new SkippedDocuments();
    const page = await this.itemRows.find({ ...query, damaged: left.add });
    const items = await this.items.toViews(page.items, left.add);
    return { items, next_cursor: page.next, has_more: page.next !== null, ...left.toWarnings };
  }

  /**
   * Lists nearest first (similar-items.ts).
   * @throws ServiceError not_found, insufficient_scope
   */
  async listSimilar(name: string, caller: BugCaller, limit: number): Promise<Item[]> {
    return this.items.toViews(
      await findSimilarItems(
        { words: this.words, items: this.itemRows, texts: this.texts },
        await this.items.get(name, caller),
        limit,
      ),
    );
  }

  /**
   * Includes the last ten entries of each part.
   * @throws ServiceError not_found, insufficient_scope
   */
  async getDetail(
    name: string,
    caller: BugCaller,
    { occurrences: wanted = DETAIL_PART_LIMIT }: { occurrences?: number } = {},
  ): Promise<ItemDetail> {
    const doc = await this.items.get(name, caller);
    const last = async (part: ItemPart, limit = DETAIL_PART_LIMIT): Promise<object[]> => {
      if (limit === 0) return [];
      const page: PageResponse = await this.parts.listPart(doc.id, part, { limit });
      return page.items;
    };
    const item = await this.items.toView(doc);
    const [surroundings, occurrences, comments, activity, links, pull_request, requester, handover] = await Promise.all(
      [
        this.around.getSurroundings(item, doc),
        last('occurrences', wanted),
        last('comments'),
        last('activity'),
        this.parts.listLinks(doc, caller),
        this.#findPullRequest(doc),
        this.#findRequester(item, doc),
        this.handovers.build(doc),
      ],
    );
    await this.leases.markUnreadShown(doc, caller);
    const { people } = item;
    const parts = { occurrences, comments, activity, links };
    return { item, ...surroundings, people, ...parts, pull_request, requester, handover };
  }

  /** A failure loses the briefing, never the claim token. */
  async getBriefing(item: Item): Promise<Partial<Briefing>> {
    try {
      return await this.#buildBriefing(item);
    } catch (err) {
      this.log.error({ err, item: item.id }, 'a claimed item was returned without its briefing');
      return {};
    }
  }

  async #buildBriefing(item: Item): Promise<Briefing> {
    const stored = await this.itemRows.get(item.id);
    const [places, requester, occurrence, similar] = await Promise.all([
      this.around.getSurroundings(item, stored ?? {}),
      this.#findRequester(item, stored),
      this.parts.findNewestOccurrence(item.id),
      stored === null
        ? []
        : findSimilarItems(
            { words: this.words, items: this.itemRows, texts: this.texts },
            stored,
            MAX_SIMILAR_ITEMS,
            MAX_BRIEFING_WORDS,
          ),
    ]);
    return { ...places, requester, ...(occurrence && { occurrence }), similar: similar.map(toSimilarItem) };
  }

  async #findRequester({ id, type }: Pick<Item, 'id' | 'type'>, stored: ItemDoc | null): Promise<string | null> {
    if (type !== 'feature') return null;
    return stored?.[UNFILED_CREATION_FIELD] ?? (await this.activity.get(id))?.actor ?? null;
  }

  async #findPullRequest({ project, pr_url }: ItemDoc): Promise<PullRequestView | null> {
    const found = pr_url ? await findPullRequest({ pullRequests: this.pullRequests }, project, pr_url) : null;
    if (found === null) return null;
    const { heard_at: _, ...pull } = found;
    return { ...pull, untrusted_fields: UNTRUSTED_PULL_REQUEST_FIELDS };
  }

  async listProjects(
    caller: BugCaller,
  ): Promise<{ slug: string; name: string; open_count: number; latest_build: string | null }[]> {
    await this.leases.writeExpired();
    const [all, open] = await Promise.all([
      this.projects.list(),
      this.itemRows.groupCount('project', { status: 'open' }),
    ]);
    const counts = new Map(open.map(({ key, n }) => [key, n]));
    const shown = all.filter(({ slug, archived }) => !archived && (caller.project === null || caller.project === slug));
    return Promise.all(
      shown.map(async ({ slug, name }) => ({
        slug,
        name,
        open_count: counts.get(slug) ?? 0,
        latest_build: await this.known.findLatestVersion(slug),
      })),
    );
  }
}

const formatDeltaCursor = (mark: string, after: string): string =>
  Buffer.from(`${mark}~${after}`).toString('base64url');

function parseDeltaCursor(cursor: string): { mark: string; after: string } {
  const [, mark, after] = DELTA_CURSOR_PATTERN.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  if (mark === undefined || after === undefined) throw new InvalidCursor();
  return { mark, after };
}
