/** Comments, history and stored occurrences of an item as paged lists, newest first. */
import { inject, injectable } from '../../../kernel/contract.js';
import type { Collection, Doc, Filter } from '../../../ports/store.js';
import type { BugCaller } from '../caller.js';
import { DEPS, type BugDeps } from '../deps.js';
import { isFiltered, type Where } from './facets.js';
import { KeptOccurrences } from './kept.js';
import type { PageAnswer, PageRequest } from './page-request.js';
import { Items } from '../store/items.js';
import { ShownLinks, type LinkView } from '../links/shown.js';
import type { ItemDoc, ItemOutboxEntry } from '../item/model.js';
import type { StoredOccurrence } from '../item/occurrence-documents.js';
import { toActivityDocument, ItemOutbox } from '../store/item-outbox.js';
import { unpackOccurrence } from '../item/payload.js';
import { listSlotIds } from '../item/document-ids.js';
import { toActivityView, toCommentView, toOccurrenceView } from '../item/view.js';
import { findReadable, warned } from '../../../ports/store/left-out.js';

export type Part = 'occurrences' | 'comments' | 'activity';
const TIME = { occurrences: 'received_at', comments: 'created_at', activity: 'at' } as const;

@injectable()
export class Parts {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Items) private readonly items: Items,
    @inject(ItemOutbox) private readonly outbox: ItemOutbox,
    @inject(ShownLinks) private readonly shownLinks: ShownLinks,
    @inject(KeptOccurrences) private readonly kept: KeptOccurrences,
  ) {}

  /**
   * @param where filter of occurrences
   * @throws ServiceError not_found, insufficient_scope
   */
  async page(
    name: string,
    caller: BugCaller,
    part: Part,
    request: PageRequest,
    where: Where = {},
  ): Promise<PageAnswer> {
    const item = await this.items.need(name, caller);
    if (part === 'occurrences' && isFiltered(where)) return this.kept.page(item, where, request);
    return this.partOf(item.id, part, request);
  }

  async partOf(itemId: string, part: Part, request: PageRequest): Promise<PageAnswer> {
    const { occurrences, texts } = this.deps;
    const shown = async (stored: StoredOccurrence): Promise<object> =>
      toOccurrenceView(await unpackOccurrence(stored, (id) => texts.get(id)));
    if (part === 'occurrences') return this.#list(occurrences, shown, part, itemId, request);
    if (part === 'comments') return this.#list(this.deps.comments, toCommentView, part, itemId, request);
    const unfiled = await this.outbox.file(itemId);
    const filed = await this.#list(this.deps.activity, toActivityView, part, itemId, request);
    return unfiled.length === 0 ? filed : withUnfiled(filed, itemId, unfiled, request);
  }

  async newest(itemId: string): Promise<object | undefined> {
    return (await this.partOf(itemId, 'occurrences', { limit: 1 })).items[0];
  }

  links(item: Pick<ItemDoc, 'id'>, caller: BugCaller): Promise<LinkView[]> {
    return this.shownLinks.of(item, caller);
  }

  async #list<T extends Doc>(
    from: Collection<T>,
    view: (doc: T) => object | Promise<object>,
    part: Part,
    itemId: string,
    request: PageRequest,
  ): Promise<PageAnswer> {
    const filter: Filter = part === 'occurrences' ? { id: { in: listSlotIds(itemId) } } : { item_id: itemId };
    const page = await findReadable(from, {
      filter,
      sort: [[TIME[part], 'desc']],
      limit: request.limit ?? 50,
      after: request.cursor ?? null,
    });
    const items = await Promise.all(page.items.map(async (doc) => view(doc)));
    const answer: PageAnswer = { items, next_cursor: page.next, has_more: page.next !== null, ...warned(page) };
    return request.include_total === true ? { ...answer, total: await from.count(filter) } : answer;
  }
}

/** Adds unfiled entries: claims on the first page, the item's creation on the last. */
function withUnfiled(
  page: PageAnswer,
  id: string,
  unfiled: readonly ItemOutboxEntry[],
  { cursor }: PageRequest,
): PageAnswer {
  const viewOf = (entry: ItemOutboxEntry): object => toActivityView(toActivityDocument({ id, project: '' }, entry));
  const claims = cursor ? [] : unfiled.filter(({ name }) => name !== 'created').map(viewOf);
  const made = page.has_more ? [] : unfiled.filter(({ name }) => name === 'created').map(viewOf);
  // A merge into the item came after the claim, and its entry is written without a change of the
  // item.
  const items = [...claims, ...page.items, ...made].toSorted((a, b) =>
    timeOf(a) < timeOf(b) ? 1 : timeOf(a) > timeOf(b) ? -1 : 0,
  );
  return { ...page, items, ...(page.total !== undefined && { total: page.total + unfiled.length }) };
}

const timeOf = (entry: object): string => (entry as { at: string }).at;
