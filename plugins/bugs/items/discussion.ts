/** Comments and history of an item, and its kept occurrences: paged lists, newest first. */
import { inject, injectable } from '../../../kernel/contract.js';
import { denied } from '../../../kernel/errors.js';
import type { Item } from '../../../ports/domain/bugs.js';
import type { Collection, Doc, Filter } from '../../../ports/store.js';
import type { Caller } from '../caller.js';
import { DEPS, type Deps } from '../deps.js';
import { Items } from './items.js';
import { isToken, leaseLost, touched } from '../claims/lease.js';
import type { ChangeSet } from './change-set.js';
import { claimRequired } from './claim-rule.js';
import type { ItemDoc, OutboxEntry, StoredOccurrence } from './model.js';
import { activityOf, commentOf, Outbox } from './outbox.js';
import { SecretGuard } from './secret-guard.js';
import { unpack } from '../intake/payload.js';
import { slotIds } from '../intake/sampling.js';
import { activityView, commentView, isLive, itemView, occurrenceView } from './view.js';

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

/** A stored comment, with the item's current state. */
export interface Commented {
  comment: object;
  item: Pick<Item, 'ref' | 'status' | 'rev'>;
}

export type Part = 'occurrences' | 'comments' | 'activity';
const TIME = { occurrences: 'received_at', comments: 'created_at', activity: 'at' } as const;

@injectable()
export class Discussion {
  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(Items) private readonly items: Items,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
    @inject(Outbox) private readonly outbox: Outbox,
  ) {}

  /** @throws ServiceError not_found, insufficient_scope */
  async page(name: string, caller: Caller, part: Part, request: PageRequest): Promise<PageAnswer> {
    const { id } = await this.items.need(name, caller);
    return this.partOf(id, part, request);
  }

  /** A page of an item that the caller has already been admitted to. */
  async partOf(itemId: string, part: Part, request: PageRequest): Promise<PageAnswer> {
    const { occurrences, texts } = this.deps;
    const shown = async (stored: StoredOccurrence): Promise<object> =>
      occurrenceView(await unpack(stored, (id) => texts.get(id)));
    if (part === 'occurrences') return this.#list(occurrences, shown, part, itemId, request);
    if (part === 'comments') return this.#list(this.deps.comments, commentView, part, itemId, request);
    const waiting = await this.outbox.file(itemId);
    const filed = await this.#list(this.deps.activity, activityView, part, itemId, request);
    return waiting.length === 0 ? filed : withWaiting(filed, itemId, waiting, request);
  }

  /** The newest kept occurrence; undefined when no payload is kept. */
  async newest(itemId: string): Promise<object | undefined> {
    return (await this.partOf(itemId, 'occurrences', { limit: 1 })).items[0];
  }

  async #list<T extends Doc>(
    from: Collection<T>,
    view: (doc: T) => object | Promise<object>,
    part: Part,
    itemId: string,
    request: PageRequest,
  ): Promise<PageAnswer> {
    const filter: Filter = part === 'occurrences' ? { id: { in: slotIds(itemId) } } : { item_id: itemId };
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
   * A comment by a caller who may manage items, or by the token that reported the item.
   * @throws ServiceError not_found, insufficient_scope, lease_lost, validation_failed
   */
  async comment(name: string, caller: Caller, body: string, claimToken?: string): Promise<Commented> {
    const { id, reported_by } = await this.items.need(name, caller);
    if (!caller.manage && reported_by !== caller.id)
      throw denied('A token that may only report comments on the items that it created.');
    await this.secrets.refuse({ body });
    let entry: OutboxEntry | undefined;
    const item = await this.items.change(id, caller.name, (now, change) => {
      if (claimToken !== undefined) this.#renew(now, claimToken, caller, change);
      entry = change.comment(body).entries.at(-1);
    });
    const { ref, status, rev } = itemView(item, null, this.deps.clock.now());
    return { comment: commentView(commentOf(item, entry as OutboxEntry)), item: { ref, status, rev } };
  }

  /** Any write by the holder renews. @throws ServiceError lease_lost, claim_required */
  #renew(item: ItemDoc, claimToken: string, caller: Caller, change: ChangeSet): void {
    const now = this.deps.clock.now();
    if (!isLive(item.claim, now) || !isToken(item.claim, claimToken)) throw leaseLost(item, claimToken, caller, now);
    if (caller.by_tool === true && item.claim.credential !== caller.id) throw claimRequired();
    const lease = touched(item.claim, now);
    if (lease !== item.claim) change.assign({ claim: lease });
  }
}

/** The page with the entries that wait: a claim on the first one, that the item was made on the last. */
function withWaiting(
  page: PageAnswer,
  id: string,
  waiting: readonly OutboxEntry[],
  { cursor }: PageRequest,
): PageAnswer {
  const viewOf = (entry: OutboxEntry): object => activityView(activityOf({ id, project: '' }, entry));
  const claims = cursor ? [] : waiting.filter(({ name }) => name !== 'created').map(viewOf);
  const made = page.has_more ? [] : waiting.filter(({ name }) => name === 'created').map(viewOf);
  // What was merged into the item came after the claim, and is in its history without a change of it.
  const items = [...claims, ...page.items, ...made].toSorted((a, b) =>
    timeOf(a) < timeOf(b) ? 1 : timeOf(a) > timeOf(b) ? -1 : 0,
  );
  return { ...page, items, ...(page.total !== undefined && { total: page.total + waiting.length }) };
}

const timeOf = (entry: object): string => (entry as { at: string }).at;
