/**
 * Splits an item by occurrence (contract 20, merge and split): some reports, and later ones like
 * them, become a separate item.
 *
 * Order: number of the new item → a `splits` document (marker) with all pending writes → the item's
 * own change by compare-and-set, which decides → the new item with its texts → its keys → the
 * families → its occurrences → the marker is deleted. After a crash the job `bugs.reconcile`
 * completes the rest, or drops the marker if the item was never changed.
 *
 * Rejected: copying the counters, which would count occurrences twice; moving samples alone, which
 * the next report would undo.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { conflict, ServiceError } from '../../../kernel/errors.js';
import type { Item } from '../../../ports/domain/bugs.js';
import type { BugCaller } from '../caller.js';
import { DEPS, type BugDeps } from '../deps.js';
import { createReasonRequiredError } from '../errors.js';
import type { ChangeSet } from '../item/change-set.js';
import { createClaimRequiredError } from '../item/claim-rule.js';
import { createAlreadyClaimedError, matchesToken, createLeaseLostError, renewLease } from '../item/lease.js';
import type { ItemDoc, TextsDoc } from '../item/model.js';
import { isLeaseLive } from '../item/api-views.js';
import { ItemService } from '../store/item-service.js';
import { LeaseClockAdjuster } from '../store/lease-clock-adjuster.js';
import { SecretGuard } from '../store/secret-guard.js';
import { checkRevision } from '../editing/status-plan.js';
import { SplitCompletionService } from './split-completion.js';
import { splitIntoHalves, listVarieties, type SplitHalves, type SplitSelection } from './split-halves.js';
import { GroupedPartsReader } from './grouped-occurrences.js';
import { buildSplitItem, buildRemainder, buildHalfTexts } from './new-item.js';
import { buildSplitPreview, type SplitPreview } from './split-preview.js';
import { computeShares, buildShareDecrements } from './counter-shares.js';
import type { SplitDoc } from '../item/operation-documents.js';
import { ItemNumberAllocator } from '../intake/item-creator.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';
import type { Collection } from '../../../ports/store/index.js';

export interface SplitRequest extends SplitSelection {
  title?: string;
  claim_token?: string;
  force?: boolean;
  reason?: string;
}

export interface SplitResult {
  item: Item;
  split_off: Item;
  preview: SplitPreview;
}

export const isSelection = ({ occurrences, by }: SplitSelection): boolean =>
  occurrences !== undefined || by !== undefined;

@injectable()
export class SplitService {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
    @inject(DEPS.splits) private readonly splits: Collection<SplitDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(ItemService) private readonly items: ItemService,
    @inject(GroupedPartsReader) private readonly partsReader: GroupedPartsReader,
    @inject(ItemNumberAllocator) private readonly numbers: ItemNumberAllocator,
    @inject(SplitCompletionService) private readonly handover: SplitCompletionService,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
    @inject(LeaseClockAdjuster) private readonly times: LeaseClockAdjuster,
  ) {}

  /**
   * Stores nothing; without a selection, returns only the differences.
   * @throws ServiceError not_found, insufficient_scope, invalid_transition, validation_failed
   */
  async preview(
    name: string,
    caller: BugCaller,
    selection: SplitSelection,
  ): Promise<{ item: Item; preview: SplitPreview }> {
    const item = await this.items.get(name, caller);
    validateStatus(item);
    const groupedParts = await this.partsReader.read(item);
    const varieties = listVarieties(groupedParts.occurrences);
    const halves = isSelection(selection) ? splitIntoHalves(groupedParts, selection, 'preview') : null;
    return { item: await this.items.toView(item), preview: buildSplitPreview(item, varieties, halves) };
  }

  /**
   * @throws ServiceError not_found, insufficient_scope, invalid_transition, validation_failed,
   *   precondition_failed, already_claimed, lease_lost, claim_required, reason_required, conflict
   */
  async split(name: string, caller: BugCaller, request: SplitRequest, ifMatch?: string): Promise<SplitResult> {
    const first = await this.items.get(name, caller);
    validateStatus(first);
    const { claim_token: _secret, ...written } = request;
    await this.secrets.rejectSecrets(written);
    const id = this.ids.uuid();
    await this.handover.completeForItem(first.id);
    const groupedParts = await this.partsReader.read(first);
    const halves = splitIntoHalves(groupedParts, request, id);
    const preview = buildSplitPreview(first, listVarieties(groupedParts.occurrences), halves);
    const texts = await this.texts.get(first.id);
    // Before a number is taken, and again on the written state.
    this.#validateAccess(first, request, caller, ifMatch);
    const n = await this.numbers.allocate(first.project);
    const entry = this.ids.uuid();
    let split: SplitDoc | null = null;
    const doc = await this.items
      .change(first.id, caller.name, async (item, change) => {
        validateStatus(item);
        // Another split moved some of them.
        if (item.parted_by !== first.parted_by) throw conflict('The item was split meanwhile; reload it.');
        this.#validateAccess(item, request, caller, ifMatch);
        this.#updateLease(item, change, request, caller);
        split = this.#plan(item, change, halves, { id, n, entry, caller, texts, title: request.title ?? null });
        const { id: _id, ...fields } = split;
        await this.splits.change({ id }, { set: fields as never }, { upsert: true });
      })
      .catch(async (error: unknown) => {
        // Leaves no marker, unless the item was written; after other errors the job decides.
        if (error instanceof ServiceError && split !== null) await this.handover.complete(split);
        throw error;
      });
    if (split !== null) await this.handover.complete(split);
    const made = await this.items.find(id);
    const left = (await this.itemRows.get(doc.id)) ?? doc;
    return {
      item: await this.items.toView(left),
      split_off: await this.items.toView(made ?? (split as unknown as SplitDoc).made),
      preview,
    };
  }

  #plan(
    item: ItemDoc,
    change: ChangeSet,
    halves: SplitHalves,
    given: {
      id: string;
      n: number;
      entry: string;
      caller: BugCaller;
      texts: Awaited<ReturnType<BugDeps['texts']['get']>>;
      title: string | null;
    },
  ): SplitDoc {
    const { leaves, stays, keys, parts, difference } = halves;
    const { id, n, entry, caller } = given;
    const shares = computeShares(item, halves);
    const { fields, texts: left_texts } = buildRemainder(item, given.texts, leaves, stays, entry);
    const key = keys[0] ?? parts[0]?.part.key ?? item.dedup_key;
    const made = buildSplitItem(
      item,
      leaves,
      shares,
      { id, n, key, title: given.title, trusted: caller.by_tool !== true, actor: caller.name, at: change.at },
      this.ids,
    );
    const ref = made.ref;
    change.assign(fields).incrementCounters(buildShareDecrements(shares));
    change.addHistoryEntry(
      'split_off',
      { item_id: id, ref, occurrences: leaves.length, ...toHistoryData(difference) },
      entry,
    );
    const stayingBare = new Set(stays.map(({ bare }) => bare));
    return {
      id,
      project: item.project,
      item_id: item.id,
      entry,
      at: change.at,
      made,
      made_texts: buildHalfTexts(id, leaves),
      left_texts,
      keys,
      parts,
      bare_keys: [
        ...new Set(leaves.flatMap(({ key: of, bare }) => (bare !== null && keys.includes(of) ? [bare] : []))),
      ].filter((bare) => !stayingBare.has(bare)),
      occurrences: leaves.map(({ doc }) => ({ id: doc.id, occurrence_id: doc.occurrence_id })),
    };
  }

  /** As with PATCH; a lease overridden with a reason continues. */
  #validateAccess(item: ItemDoc, request: SplitRequest, caller: BugCaller, ifMatch: string | undefined): void {
    checkRevision(item, ifMatch);
    const { claim_token, force, reason } = request;
    const now = this.clock.now();
    const live = isLeaseLive(item.claim, now);
    if (claim_token !== undefined) {
      if (!live || item.claim === null || !matchesToken(item.claim, claim_token))
        throw createLeaseLostError(item, claim_token, caller, now);
      if (caller.by_tool === true && item.claim.credential !== caller.id) throw createClaimRequiredError();
      return;
    }
    if (live && item.claim !== null && force !== true) throw createAlreadyClaimedError(item.claim, caller);
    if (live && !reason?.trim()) throw createReasonRequiredError('Overriding a live lease requires a `reason`.');
    if (caller.by_tool === true) throw createClaimRequiredError();
  }

  #updateLease(item: ItemDoc, change: ChangeSet, { claim_token, reason }: SplitRequest, caller: BugCaller): void {
    const now = this.clock.now();
    change.by = claim_token !== undefined ? 'holder' : caller.kind === 'session' ? 'person' : 'other';
    if (!isLeaseLive(item.claim, now) || item.claim === null) return;
    if (claim_token === undefined)
      change.addHistoryEntry('forced', { agent: item.claim.agent, reason: reason ?? null });
    else {
      const lease = renewLease(item.claim, now, this.times.getClockStamp());
      if (lease !== item.claim) change.assign({ claim: lease });
    }
  }
}

const toHistoryData = (difference: SplitHalves['difference']): { field?: string; values?: string[] } =>
  difference === null ? {} : { field: difference.field, values: difference.values.slice(0, 10) };

function validateStatus({ status }: ItemDoc): void {
  if (status === 'duplicate')
    throw new ServiceError(
      'invalid_transition',
      'This item is merged into another item: revert the merge first, with an empty body.',
    );
}
