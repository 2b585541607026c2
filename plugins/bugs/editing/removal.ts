/**
 * Deletes items permanently: by `DELETE /bugs/{id}`, and after `bugs.retention_days` (contract 20,
 * endpoints).
 *
 * Order of writes: a `removals` document (marker) → the item, by compare-and-set → everything that
 * belongs to it → the marker is closed. The job `bugs.reconcile` finishes what a crash leaves. The
 * marker stays while a reference may name the item: a report with such a reference creates a new
 * item instead of completing the deleted one (grouping-keys.ts). A flag in the item was rejected,
 * because every list and count would have to exclude it.
 */
import { inject, injectable, type Principal } from '../../../kernel/contract/index.js';
import { conflict, denied } from '../../../kernel/errors.js';
import { createAlreadyClaimedError, matchesToken, createLeaseLostError } from '../item/lease.js';
import { toBugCaller, type BugCaller } from '../caller.js';
import { buildElapsedFilter } from '../../../lib/clock-skew.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { removeAll } from '../../../ports/store/remove-all.js';
import { DEPS } from '../deps.js';
import { createReasonRequiredError } from '../errors.js';
import { GroupingKeyResolver } from '../groups/grouping-keys.js';
import { toPublicRefId } from '../store/client-refs.js';
import { hashWithinProject, listSlotIds } from '../item/document-ids.js';
import { LinkService } from '../links/link-service.js';
import { RekeyingService } from '../merging/rekeying.js';
import { ItemService } from '../store/item-service.js';
import type { ItemDoc, TextsDoc, KeyDoc, RefDoc, CommentDoc, ActivityDoc } from '../item/model.js';
import type { RemovalDoc, SearchTextDoc } from '../item/operation-documents.js';
import { ItemOutbox } from '../store/item-outbox.js';
import { isLeaseLive } from '../item/api-views.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { Clock } from '../../../ports/clock.js';
import type { StoredOccurrence } from '../item/occurrence-documents.js';
import type { Collection } from '../../../ports/store/index.js';

const MAX_ATTEMPTS = 20;
const BATCH_SIZE = 100;
const ABANDONED_AFTER_MS = 60_000;
/** References of occurrences are stored for 30 days. */
const MARKER_RETENTION_MS = 31 * DAY_MS;

const ENDED_STATUSES = ['closed', 'wont_fix', 'duplicate'] as const;

export interface RemovalOptions {
  claim_token?: string;
  force?: boolean;
  reason?: string;
}

@injectable()
export class ItemRemovalService {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
    @inject(DEPS.words) private readonly words: Collection<SearchTextDoc>,
    @inject(DEPS.keys) private readonly keyRows: Collection<KeyDoc>,
    @inject(DEPS.removals) private readonly removals: Collection<RemovalDoc>,
    @inject(DEPS.refs) private readonly refs: Collection<RefDoc>,
    @inject(DEPS.occurrences) private readonly occurrences: Collection<StoredOccurrence>,
    @inject(DEPS.comments) private readonly comments: Collection<CommentDoc>,
    @inject(DEPS.activity) private readonly activity: Collection<ActivityDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.audit) private readonly audit: () => AuditLog | undefined,
    @inject(ItemService) private readonly items: ItemService,
    @inject(GroupingKeyResolver) private readonly keys: GroupingKeyResolver,
    @inject(ItemOutbox) private readonly outbox: ItemOutbox,
    @inject(RekeyingService) private readonly rekeying: RekeyingService,
    @inject(LinkService) private readonly links: LinkService,
  ) {}

  /**
   * Resolves when all data of the item is gone.
   * @param principal the requester, for the audit log
   * @throws ServiceError not_found, insufficient_scope, already_claimed, lease_lost,
   *   reason_required; conflict while other items are duplicates of it
   */
  async remove(name: string, principal: Principal, options: RemovalOptions = {}): Promise<void> {
    const caller = toBugCaller(principal);
    // Injected text may lead an agent to a deletion (contract 10, amendments).
    if (caller.agent !== undefined) throw denied('A token limited to an agent cannot delete items.');
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const item = await this.items.get(name, caller);
      this.#checkLease(item, caller, options);
      if (!(await this.#removeItem(item))) continue;
      const { ref, title } = item;
      const details = { title: title.slice(0, 200), reason: options.reason?.trim() || null };
      await this.audit()?.record(principal, 'bug.deleted', ref, details);
      return;
    }
    throw conflict('Too many concurrent changes of the item; try again.');
  }

  async deleteRetired(days: number, signal?: AbortSignal): Promise<number> {
    const before = toIsoString(this.clock.now() - days * DAY_MS);
    let removed = 0;
    // An item is deleted after its duplicates.
    for (const status of ENDED_STATUSES.toReversed()) {
      let after: string | null = null;
      do {
        const page: { items: ItemDoc[]; next: string | null } = await this.itemRows.find({
          filter: { status, last_seen_at: { lt: before } },
          sort: [['last_seen_at', 'asc']],
          limit: BATCH_SIZE,
          after,
        });
        for (const item of page.items) {
          if (signal?.aborted === true) return removed;
          if (!(await this.#hasDuplicates(item)) && (await this.#removeItem(item))) removed += 1;
        }
        after = page.next;
      } while (after !== null);
    }
    if (removed > 0) await this.audit()?.record('system', 'bug.deleted', `${removed} items`, { retention_days: days });
    return removed;
  }

  async reconcile(): Promise<void> {
    const { removals, itemRows: items, clock } = this;
    const open = await removals.find({
      filter: buildElapsedFilter('open_at', ABANDONED_AFTER_MS, clock.now()),
      sort: [['open_at', 'asc']],
      limit: BATCH_SIZE,
    });
    for (const removal of open.items) {
      // The process ended before the removal.
      if ((await items.get(removal.id)) !== null) await removals.remove({ id: removal.id, open_at: removal.open_at });
      else await this.#finish(removal);
    }
  }

  async deleteOldMarkers(signal?: AbortSignal): Promise<void> {
    const { removals, clock } = this;
    await removeAll(removals, { expires_at: { gt: '', lt: clock.iso() } }, signal);
  }

  /** As with PATCH (contract 20, endpoints). */
  #checkLease(item: ItemDoc, caller: BugCaller, { claim_token, force, reason }: RemovalOptions): void {
    const { claim } = item;
    const now = this.clock.now();
    const live = isLeaseLive(claim, now);
    if (claim_token !== undefined) {
      if (!live || !matchesToken(claim, claim_token)) throw createLeaseLostError(item, claim_token, caller, now);
    } else if (live && force !== true) throw createAlreadyClaimedError(claim, caller);
    else if (live && !reason?.trim()) throw createReasonRequiredError('Overriding a live lease requires a `reason`.');
  }

  async #hasDuplicates({ id }: ItemDoc): Promise<boolean> {
    return (await this.itemRows.count({ duplicate_of: id, status: 'duplicate' })) > 0;
  }

  async #removeItem(item: ItemDoc): Promise<boolean> {
    if (await this.#hasDuplicates(item))
      throw conflict('Other items are duplicates of this one; delete them first, or split them from it.');
    await this.rekeying.completeMoves(await this.rekeying.listUnfinished(item.id));
    if (item.outbox_at !== null) {
      await this.outbox.flushAll(item.id);
      return false;
    }
    const removal = buildMarker(item, this.clock.iso());
    const { id, rev, links } = item;
    await this.removals.change({ id }, { set: toMarkerFields(removal) }, { upsert: true });
    // The marker stays for the job: it may belong to another call that removed the item.
    if ((await this.itemRows.remove({ id, rev, links: links ?? null, outbox_at: null })) === 0) return false;
    await this.#finish(removal);
    return true;
  }

  async #finish(removal: RemovalDoc): Promise<void> {
    const { id, refs } = removal;
    const { keyRows: keys, texts, words, occurrences, comments, activity, clock } = this;
    await Promise.all([
      keys.remove({ item_id: id }),
      this.refs.bulk(refs.map((ref) => ({ remove: { id: ref, item_id: id } }))),
      texts.remove({ id }),
      words.remove({ id }),
      occurrences.remove({ id: { in: listSlotIds(id) } }),
      comments.remove({ item_id: id }),
      activity.remove({ item_id: id }),
      this.links.deleteItemLinks(id),
    ]);
    this.keys.clearCache();
    const done = { ...removal, open_at: null, expires_at: toIsoString(clock.now() + MARKER_RETENTION_MS) };
    await this.removals.change({ id }, { set: toMarkerFields(done) }, { upsert: true });
  }
}

/** Those of occurrences are detected when they recur. */
const buildMarker = ({ id, project, client_ref }: ItemDoc, now: string): RemovalDoc => ({
  id,
  refs: client_ref === null ? [] : [hashWithinProject(project, client_ref), toPublicRefId(project, client_ref)],
  open_at: now,
  expires_at: null,
});

const toMarkerFields = ({ refs, open_at, expires_at }: RemovalDoc): Omit<RemovalDoc, 'id'> => ({
  refs,
  open_at,
  expires_at,
});
