/**
 * Applies one change to many items (contract 20, endpoints: `POST /bugs/bulk`). Every item goes
 * through the checks of a PATCH, so a rejected item affects no other. A filter's ids are collected
 * first, and nothing is written unless their number is the expected one. A single update over the
 * filter was rejected, because it would bypass leases, history and events.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { conflict, invalid, notFound, ServiceError } from '../../../kernel/errors.js';
import { iteratePages } from '../../../lib/paging.js';
import { matches } from '../../../ports/document.js';
import type { Filter } from '../../../ports/store.js';
import type { BugCaller } from '../caller.js';
import { DEPS, type BugDeps } from '../deps.js';
import { createReasonRequiredError } from '../errors.js';
import type { Edit } from '../item/edit.js';
import { Edits } from './edits.js';
import { toCallerFilter, type ItemQuery } from '../item/filters.js';
import { Items } from '../store/items.js';
import { addNamedItems } from '../store/named.js';
import { Leases } from '../claims/leases.js';
import type { ItemDoc } from '../item/model.js';
import { readSeverity } from '../item/severity.js';

export const MAX_IDS = 200;
export const MAX_MATCHES = 1000;
/** Enough for one commit to carry many edits, few enough to leave room for other requests. */
const MAX_CONCURRENT_EDITS = 16;
const PAGE = 500;

export interface BulkRequest {
  /** Ids or refs; mutually exclusive with `filter`. */
  ids?: readonly string[];
  filter?: ItemQuery;
  /** Number of items that the filter matches; required with `filter`. */
  expected_count?: number;
  set: Edit;
  /** Id or ref → the current token of its live lease. */
  claim_tokens?: Readonly<Record<string, string>>;
}

export interface BulkResult {
  /** The item's id, or the given name if no item exists. */
  id: string;
  ref?: string;
  ok: boolean;
  error?: { code: string; message: string; fields?: Record<string, string>; claim?: unknown };
}

export interface BulkAnswer {
  results: BulkResult[];
  updated: number;
}

interface Target {
  name: { id: string; ref?: string };
  item: Pick<ItemDoc, 'id' | 'ref'> | null;
}

@injectable()
export class Bulk {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Items) private readonly items: Items,
    @inject(Edits) private readonly edits: Edits,
    @inject(Leases) private readonly leases: Leases,
  ) {}

  /**
   * Returns how many items match the query now, for `expected_count`.
   * @throws ServiceError insufficient_scope
   */
  async count(query: ItemQuery, caller: BugCaller): Promise<number> {
    await this.leases.writeExpired();
    return this.deps.items.count(await this.#filter(query, caller));
  }

  /**
   * Applies the edit to the given or matching items.
   * @throws ServiceError not_found when no id exists, conflict when the filter matches another
   *   number of items, insufficient_scope for a filter on another project, and for an edit that is
   *   invalid for every item: reason_required, validation_failed
   */
  async run(request: BulkRequest, caller: BugCaller): Promise<BulkAnswer> {
    checkSet(request.set);
    if (request.filter !== undefined && request.expected_count === undefined)
      throw invalid({ expected_count: 'is required with a filter: how many items it matches' });
    return request.filter === undefined
      ? this.#byIds(request, caller)
      : this.#byFilter(request, request.filter, caller);
  }

  async #byIds({ ids = [], ...request }: BulkRequest, caller: BugCaller): Promise<BulkAnswer> {
    const found = await Promise.all(
      [...new Set(ids)].map(async (given) => ({ given, item: await this.items.known(given, caller) })),
    );
    if (found.every(({ item }) => item === null)) throw notFound('item with one of these ids');
    const targets = new Map<string, Target>();
    for (const { given, item } of found)
      targets.set(item?.id ?? given, { name: item === null ? { id: given } : nameOf(item), item });
    return this.#each([...targets.values()], request, caller);
  }

  async #byFilter(request: BulkRequest, query: ItemQuery, caller: BugCaller): Promise<BulkAnswer> {
    await this.leases.writeExpired();
    const filter = await this.#filter(query, caller);
    const targets = await this.#matching(filter);
    const n = targets.length > MAX_MATCHES ? await this.deps.items.count(filter) : targets.length;
    if (n !== request.expected_count) {
      const message = `The filter matches ${n} items, not ${request.expected_count}; nothing was changed.`;
      throw conflict(message, { extra: { count: n } });
    }
    const fits = (item: ItemDoc): void => {
      if (!matches(item, filter)) throw conflict('The item does not match the filter any more.');
    };
    return this.#each(targets, request, caller, fits);
  }

  async #filter(query: ItemQuery, caller: BugCaller): Promise<Filter> {
    const own = caller.project === null ? query : { ...query, project: query.project ?? [caller.project] };
    return toCallerFilter(caller, await addNamedItems(this.deps, own));
  }

  async #matching(filter: Filter): Promise<Target[]> {
    const targets: Target[] = [];
    for await (const items of iteratePages(this.deps.items, { filter, limit: PAGE })) {
      for (const { id, ref } of items) targets.push({ name: { id, ref }, item: { id, ref } });
      if (targets.length > MAX_MATCHES) break;
    }
    return targets;
  }

  async #each(
    targets: readonly Target[],
    request: BulkRequest,
    caller: BugCaller,
    fits?: (item: ItemDoc) => void,
  ): Promise<BulkAnswer> {
    const results: BulkResult[] = [];
    for (let at = 0; at < targets.length; at += MAX_CONCURRENT_EDITS) {
      const some = targets.slice(at, at + MAX_CONCURRENT_EDITS);
      results.push(...(await Promise.all(some.map((target) => this.#one(target, request, caller, fits)))));
    }
    return { results, updated: results.filter(({ ok }) => ok).length };
  }

  async #one(
    { name, item }: Target,
    request: BulkRequest,
    caller: BugCaller,
    fits: ((item: ItemDoc) => void) | undefined,
  ): Promise<BulkResult> {
    try {
      if (item === null) throw notFound('item with this id');
      await this.edits.edit(item.id, caller, withToken(request, item), undefined, fits);
      return { ...name, ok: true };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { code, message, fields, extra } = error;
      return { ...name, ok: false, error: { ...extra, code, message, ...(fields && { fields }) } };
    }
  }
}

const nameOf = ({ id, ref }: ItemDoc): Target['name'] => ({ id, ref });

function withToken({ set, claim_tokens: tokens = {} }: BulkRequest, { id, ref }: Pick<ItemDoc, 'id' | 'ref'>): Edit {
  const [, claim_token] = Object.entries(tokens).find(([key]) => [id, ref].includes(key.toLowerCase())) ?? [];
  return claim_token === undefined ? set : { ...set, claim_token };
}

/**
 * Validates what applies to every item.
 * @throws ServiceError reason_required, validation_failed
 */
function checkSet(set: Edit): void {
  readSeverity(set, 'set.');
  if (set.status === 'wont_fix' && !set.reason?.trim())
    throw createReasonRequiredError('The status wont_fix needs a `reason`.', 'set.reason');
  if (set.status === 'duplicate' && !set.duplicate_of)
    throw invalid({ 'set.duplicate_of': 'the status duplicate needs the item that these repeat' });
}
