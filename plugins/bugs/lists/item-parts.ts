import { inject, injectable } from '../../../kernel/contract/index.js';
import type { Collection, Doc, Filter } from '../../../ports/store/index.js';
import type { BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import { isFiltered, type OccurrenceFilter } from './occurrence-facets.js';
import { StoredOccurrenceReader } from './stored-occurrences.js';
import type { PageResponse, PageRequest } from './page-request.js';
import { ItemService } from '../store/item-service.js';
import { VisibleLinkReader, type LinkView } from '../links/visible-links.js';
import type { ItemDoc, ItemOutboxEntry, TextsDoc, CommentDoc, ActivityDoc } from '../item/model.js';
import type { StoredOccurrence } from '../item/occurrence-documents.js';
import { toActivityDocument, ItemOutbox } from '../store/item-outbox.js';
import { unpackOccurrence } from '../item/occurrence-payload.js';
import { listSlotIds } from '../item/document-ids.js';
import { toActivityView, toCommentView, toOccurrenceView } from '../item/api-views.js';
import { findReadable, pickWarnings } from '../../../ports/store/skipped-documents.js';

export type ItemPart = 'occurrences' | 'comments' | 'activity';
const TIME_FIELDS = { occurrences: 'received_at', comments: 'created_at', activity: 'at' } as const;

@injectable()
export class ItemPartService {
  constructor(
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
    @inject(DEPS.occurrences) private readonly occurrences: Collection<StoredOccurrence>,
    @inject(DEPS.comments) private readonly comments: Collection<CommentDoc>,
    @inject(DEPS.activity) private readonly activity: Collection<ActivityDoc>,
    @inject(ItemService) private readonly items: ItemService,
    @inject(ItemOutbox) private readonly outbox: ItemOutbox,
    @inject(VisibleLinkReader) private readonly shownLinks: VisibleLinkReader,
    @inject(StoredOccurrenceReader) private readonly storedOccurrences: StoredOccurrenceReader,
  ) {}

  /**
   * @param where filter of occurrences
   * @throws ServiceError not_found, insufficient_scope
   */
  async getPage(
    name: string,
    caller: BugCaller,
    part: ItemPart,
    request: PageRequest,
    where: OccurrenceFilter = {},
  ): Promise<PageResponse> {
    const item = await this.items.get(name, caller);
    if (part === 'occurrences' && isFiltered(where)) return this.storedOccurrences.getPage(item, where, request);
    return this.listPart(item.id, part, request);
  }

  async listPart(itemId: string, part: ItemPart, request: PageRequest): Promise<PageResponse> {
    const { occurrences, texts } = this;
    const shown = async (stored: StoredOccurrence): Promise<object> =>
      toOccurrenceView(await unpackOccurrence(stored, (id) => texts.get(id)));
    if (part === 'occurrences') return this.#list(occurrences, shown, part, itemId, request);
    if (part === 'comments') return this.#list(this.comments, toCommentView, part, itemId, request);
    const unfiled = await this.outbox.fileEntries(itemId);
    const filed = await this.#list(this.activity, toActivityView, part, itemId, request);
    return unfiled.length === 0 ? filed : addUnfiledEntries(filed, itemId, unfiled, request);
  }

  /** Comments of the item among the ids, in any order. */
  async findComments(itemId: string, ids: readonly string[]): Promise<object[]> {
    if (ids.length === 0) return [];
    const filter = { id: { in: [...ids] }, item_id: itemId };
    const page = await findReadable(this.comments, { filter, limit: ids.length });
    return page.items.map(toCommentView);
  }

  async findNewestOccurrence(itemId: string): Promise<object | undefined> {
    return (await this.listPart(itemId, 'occurrences', { limit: 1 })).items[0];
  }

  listLinks(item: Pick<ItemDoc, 'id'>, caller: BugCaller): Promise<LinkView[]> {
    return this.shownLinks.listVisible(item, caller);
  }

  async #list<T extends Doc>(
    from: Collection<T>,
    view: (doc: T) => object | Promise<object>,
    part: ItemPart,
    itemId: string,
    request: PageRequest,
  ): Promise<PageResponse> {
    const filter: Filter = part === 'occurrences' ? { id: { in: listSlotIds(itemId) } } : { item_id: itemId };
    const page = await findReadable(from, {
      filter,
      sort: [[TIME_FIELDS[part], 'desc']],
      limit: request.limit ?? 50,
      after: request.cursor ?? null,
    });
    const items = await Promise.all(page.items.map(async (doc) => view(doc)));
    const answer: PageResponse = { items, next_cursor: page.next, has_more: page.next !== null, ...pickWarnings(page) };
    return request.include_total === true ? { ...answer, total: await from.count(filter) } : answer;
  }
}

/** Claims on the first page, the creation on the last. */
function addUnfiledEntries(
  page: PageResponse,
  id: string,
  unfiled: readonly ItemOutboxEntry[],
  { cursor }: PageRequest,
): PageResponse {
  const viewOf = (entry: ItemOutboxEntry): object => toActivityView(toActivityDocument({ id, project: '' }, entry));
  const claims = cursor ? [] : unfiled.filter(({ name }) => name !== 'created').map(viewOf);
  const made = page.has_more ? [] : unfiled.filter(({ name }) => name === 'created').map(viewOf);
  // A merge came after the claim, and its entry is written without a change of the item.
  const items = [...claims, ...page.items, ...made].toSorted((a, b) =>
    getEntryTime(a) < getEntryTime(b) ? 1 : getEntryTime(a) > getEntryTime(b) ? -1 : 0,
  );
  return { ...page, items, ...(page.total !== undefined && { total: page.total + unfiled.length }) };
}

const getEntryTime = (entry: object): string => (entry as { at: string }).at;
