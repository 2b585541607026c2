/**
 * Applies one change to many items (contract 20, endpoints: `POST /bugs/bulk`), each with the
 * checks of a PATCH. A filter's ids are collected first, and nothing is written unless their number
 * is the expected one. A single update would bypass leases, history and events.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { conflict, invalid, notFound, ServiceError } from '../../../kernel/errors.js';
import { iteratePages } from '../../../lib/paging.js';
import { matchesFilter } from '../../../ports/document.js';
import type { Filter, Collection } from '../../../ports/store/index.js';
import type { BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import { createReasonRequiredError } from '../errors.js';
import type { ItemEdit } from '../item/edit.js';
import { EditService } from './edits.js';
import { toCallerFilter, type ItemQuery } from '../item/filters.js';
import { ItemService } from '../store/item-service.js';
import { IndirectMatchService } from '../store/indirect-matches.js';
import { LeaseService } from '../claims/leases.js';
import type { ItemDoc } from '../item/model.js';
import { parseSeverity } from '../item/severity.js';

export const MAX_IDS = 200;
export const MAX_MATCHES = 1000;
/** Enough to share commits, few enough to leave room for other requests. */
const MAX_CONCURRENT_EDITS = 16;
const PAGE_SIZE = 500;

export interface BulkRequest {
  /** Ids or refs; mutually exclusive with `filter`. */
  ids?: readonly string[];
  filter?: ItemQuery;
  /** Required with `filter`. */
  expected_count?: number;
  set: ItemEdit;
  /** Id or ref → token of its live lease. */
  claim_tokens?: Readonly<Record<string, string>>;
}

export interface BulkResult {
  /** The item's id, or the given name if no item exists. */
  id: string;
  ref?: string;
  ok: boolean;
  error?: { code: string; message: string; fields?: Record<string, string>; claim?: unknown };
}

export interface BulkEditResult {
  results: BulkResult[];
  updated: number;
}

interface BulkTarget {
  name: { id: string; ref?: string };
  item: Pick<ItemDoc, 'id' | 'ref'> | null;
}

@injectable()
export class BulkEditService {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(IndirectMatchService) private readonly indirectMatches: IndirectMatchService,
    @inject(ItemService) private readonly items: ItemService,
    @inject(EditService) private readonly edits: EditService,
    @inject(LeaseService) private readonly leases: LeaseService,
  ) {}

  /** @throws ServiceError insufficient_scope */
  async count(query: ItemQuery, caller: BugCaller): Promise<number> {
    await this.leases.writeExpired();
    return this.itemRows.count(await this.#buildFilter(query, caller));
  }

  /**
   * @throws ServiceError not_found when no id exists, conflict when the filter matches another
   *   number of items, insufficient_scope for a filter on another project, and for an edit that is
   *   invalid for every item: reason_required, validation_failed
   */
  async applyEdit(request: BulkRequest, caller: BugCaller): Promise<BulkEditResult> {
    validateEdit(request.set);
    if (request.filter !== undefined && request.expected_count === undefined)
      throw invalid({ expected_count: 'is required with a filter: the number of items it matches' });
    return request.filter === undefined
      ? this.#editByIds(request, caller)
      : this.#editByFilter(request, request.filter, caller);
  }

  async #editByIds({ ids = [], ...request }: BulkRequest, caller: BugCaller): Promise<BulkEditResult> {
    const found = await Promise.all(
      [...new Set(ids)].map(async (given) => ({ given, item: await this.items.findVisible(given, caller) })),
    );
    if (found.every(({ item }) => item === null)) throw notFound('issue with one of these ids');
    const targets = new Map<string, BulkTarget>();
    for (const { given, item } of found)
      targets.set(item?.id ?? given, { name: item === null ? { id: given } : toTargetName(item), item });
    return this.#editAll([...targets.values()], request, caller);
  }

  async #editByFilter(request: BulkRequest, query: ItemQuery, caller: BugCaller): Promise<BulkEditResult> {
    await this.leases.writeExpired();
    const filter = await this.#buildFilter(query, caller);
    const targets = await this.#listMatching(filter);
    const n = targets.length > MAX_MATCHES ? await this.itemRows.count(filter) : targets.length;
    if (n !== request.expected_count) {
      const message = `The filter matches ${n} items, not ${request.expected_count}; nothing was changed.`;
      throw conflict(message, { extra: { count: n } });
    }
    const fits = (item: ItemDoc): void => {
      if (!matchesFilter(item, filter)) throw conflict('The item no longer matches the filter.');
    };
    return this.#editAll(targets, request, caller, fits);
  }

  async #buildFilter(query: ItemQuery, caller: BugCaller): Promise<Filter> {
    const own = caller.project === null ? query : { ...query, project: query.project ?? [caller.project] };
    return toCallerFilter(caller, await this.indirectMatches.addTo(own));
  }

  async #listMatching(filter: Filter): Promise<BulkTarget[]> {
    const targets: BulkTarget[] = [];
    for await (const items of iteratePages(this.itemRows, { filter, limit: PAGE_SIZE })) {
      for (const { id, ref } of items) targets.push({ name: { id, ref }, item: { id, ref } });
      if (targets.length > MAX_MATCHES) break;
    }
    return targets;
  }

  async #editAll(
    targets: readonly BulkTarget[],
    request: BulkRequest,
    caller: BugCaller,
    fits?: (item: ItemDoc) => void,
  ): Promise<BulkEditResult> {
    const results: BulkResult[] = [];
    for (let at = 0; at < targets.length; at += MAX_CONCURRENT_EDITS) {
      const some = targets.slice(at, at + MAX_CONCURRENT_EDITS);
      results.push(...(await Promise.all(some.map((target) => this.#editOne(target, request, caller, fits)))));
    }
    return { results, updated: results.filter(({ ok }) => ok).length };
  }

  async #editOne(
    { name, item }: BulkTarget,
    request: BulkRequest,
    caller: BugCaller,
    fits: ((item: ItemDoc) => void) | undefined,
  ): Promise<BulkResult> {
    try {
      if (item === null) throw notFound('issue with this id');
      await this.edits.edit(item.id, caller, addClaimToken(request, item), undefined, fits);
      return { ...name, ok: true };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { code, message, fields, extra } = error;
      return { ...name, ok: false, error: { ...extra, code, message, ...(fields && { fields }) } };
    }
  }
}

const toTargetName = ({ id, ref }: ItemDoc): BulkTarget['name'] => ({ id, ref });

function addClaimToken(
  { set, claim_tokens: tokens = {} }: BulkRequest,
  { id, ref }: Pick<ItemDoc, 'id' | 'ref'>,
): ItemEdit {
  const [, claim_token] = Object.entries(tokens).find(([key]) => [id, ref].includes(key.toLowerCase())) ?? [];
  return claim_token === undefined ? set : { ...set, claim_token };
}

/**
 * Validates what applies to every item.
 * @throws ServiceError reason_required, validation_failed
 */
function validateEdit(set: ItemEdit): void {
  parseSeverity(set, 'set.');
  if (set.status === 'wont_fix' && !set.reason?.trim())
    throw createReasonRequiredError('The status wont_fix requires a `reason`.', 'set.reason');
  if (set.status === 'duplicate' && !set.duplicate_of)
    throw invalid({ 'set.duplicate_of': 'the status duplicate requires the original item' });
}
