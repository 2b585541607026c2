/** Comments and history of an item, and its kept occurrences: paged lists, newest first. */
import { inject, injectable } from '../../../kernel/contract.js';
import { denied } from '../../../kernel/errors.js';
import type { Collection, Doc } from '../../../ports/store.js';
import type { Caller } from '../caller.js';
import { DEPS, type Deps } from '../deps.js';
import { Items } from './items.js';
import { isToken, leaseLost, touched } from '../claims/leases.js';
import type { StoredOccurrence } from './model.js';
import { unpack } from '../intake/payload.js';
import { activityView, commentView, isLive, occurrenceView } from './view.js';

export interface PageRequest {
  limit?: number;
  cursor?: string | null;
  include_total?: boolean;
}

export interface PageAnswer {
  items: object[];
  next_cursor: string | null;
  has_more: boolean;
  total?: number;
}

export type Part = 'occurrences' | 'comments' | 'activity';
const TIME = { occurrences: 'received_at', comments: 'created_at', activity: 'at' } as const;

const shown = async (stored: StoredOccurrence): Promise<object> => occurrenceView(await unpack(stored));

@injectable()
export class Discussion {
  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(Items) private readonly items: Items,
  ) {}

  /** @throws ServiceError not_found, insufficient_scope */
  async page(name: string, caller: Caller, part: Part, request: PageRequest): Promise<PageAnswer> {
    const { id } = await this.items.need(name, caller);
    return this.partOf(id, part, request);
  }

  /** A page of an item that the caller has already been admitted to. */
  partOf(itemId: string, part: Part, request: PageRequest): Promise<PageAnswer> {
    if (part === 'occurrences') return this.#list(this.deps.occurrences, shown, part, itemId, request);
    if (part === 'comments') return this.#list(this.deps.comments, commentView, part, itemId, request);
    return this.#list(this.deps.activity, activityView, part, itemId, request);
  }

  async #list<T extends Doc>(
    from: Collection<T>,
    view: (doc: T) => object | Promise<object>,
    part: Part,
    itemId: string,
    request: PageRequest,
  ): Promise<PageAnswer> {
    const filter = { item_id: itemId };
    const page = await from.find({
      filter,
      sort: [[TIME[part], 'desc']],
      limit: request.limit ?? 50,
      after: request.cursor ?? null,
    });
    const items = await Promise.all(page.items.map(async (doc) => view(doc)));
    const answer: PageAnswer = { items, next_cursor: page.next, has_more: page.next !== null };
    return request.include_total === true ? { ...answer, total: await from.count(filter) } : answer;
  }

  /**
   * A comment by somebody who may manage, or by the token that reported the item.
   * @throws ServiceError not_found, insufficient_scope, lease_lost
   */
  async comment(name: string, caller: Caller, body: string, claimToken?: string): Promise<object> {
    const item = await this.items.need(name, caller);
    if (!caller.manage && item.reported_by !== caller.id)
      throw denied('A token that may only report comments on the items that it created.');
    const { ids, clock, comments } = this.deps;
    const comment = { id: ids.uuid(), item_id: item.id, body, author: caller.name, created_at: clock.iso() };
    if (claimToken !== undefined) this.#held(item.claim, claimToken);
    await comments.insert(comment);
    await this.items.change(item.id, caller.name, (now, change) => {
      change.note('commented', { comment_id: comment.id });
      const lease = now.claim;
      if (claimToken === undefined || lease === null || !isLive(lease, clock.now()) || !isToken(lease, claimToken))
        return;
      change.assign({ claim: touched(lease, clock.now()) });
    });
    return commentView(comment);
  }

  #held(lease: Parameters<typeof isLive>[0], claimToken: string): void {
    if (!isLive(lease, this.deps.clock.now()) || !isToken(lease, claimToken)) throw leaseLost();
  }
}
