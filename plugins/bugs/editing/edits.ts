/**
 * Conditions are checked on the state that compare-and-set replaces (contract 20, endpoints:
 * PATCH).
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { invalid, ServiceError } from '../../../kernel/errors.js';
import type { Item } from '../../../ports/domain/bugs.js';
import { getAuthorKind, type BugCaller } from '../caller.js';
import { ItemCloser } from '../builds/item-closer.js';
import { DEPS } from '../deps.js';
import type { ItemEdit } from '../item/edit.js';
import type { ChangeSet } from '../item/change-set.js';
import { DuplicateValidator } from '../merging/duplicate-validator.js';
import { ItemService } from '../store/item-service.js';
import {
  createAlreadyClaimedError,
  matchesToken,
  createLeaseLostError,
  createTransitionError,
  planExpiry,
  renewLease,
} from '../item/lease.js';
import { createClaimRequiredError, needsClaim } from '../item/claim-rule.js';
import type { ItemDoc, UnreadEntry, TextsDoc } from '../item/model.js';
import type { RekeyingDoc } from '../item/operation-documents.js';
import { LeaseClockAdjuster } from '../store/lease-clock-adjuster.js';
import { SecretGuard } from '../store/secret-guard.js';
import { createReasonRequiredError, refusal } from '../errors.js';
import { UnreadEntryReader } from '../claims/unread-entries.js';
import { listHumanComments } from '../item/unread-entries.js';
import { planAnswer } from './answer-plan.js';
import { planHold } from './hold-plan.js';
import { planReview, withReviewStatus } from './review-plan.js';
import { PullRequestReviewService } from './reviews.js';
import { checkRevision, planTransition } from './status-plan.js';
import {
  buildWarnings,
  checkType,
  planFields,
  planEditReason,
  planSeverity,
  getEditReason,
  normalizeEdit,
  updateTrustedFields,
} from './edit-plans.js';
import { RekeyingService } from '../merging/rekeying.js';
import { isTransitionAllowed } from '../item/transitions.js';
import { isLeaseLive } from '../item/api-views.js';
import type { AccountDirectory } from '../../../ports/domain/access.js';
import type { Clock } from '../../../ports/clock.js';
import type { Collection } from '../../../ports/store/index.js';

export interface EditResult {
  item: Item;
  warnings?: string[];
  latest_build?: string | null;
  news?: object[];
}

interface EditNotes {
  warnings: string[];
  /** Null if the caller holds no lease. */
  unread: readonly UnreadEntry[] | null;
}

/** The holder has not seen a user's comment. */
class UnreadCommentError extends Error {
  override name = 'Unheard';
}

@injectable()
export class EditService {
  readonly #duplicates: DuplicateValidator;

  constructor(
    @inject(DEPS.items) itemRows: Collection<ItemDoc>,
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.accounts) private readonly accounts: AccountDirectory,
    @inject(ItemService) private readonly items: ItemService,
    @inject(ItemCloser) private readonly builds: ItemCloser,
    @inject(PullRequestReviewService) private readonly reviews: PullRequestReviewService,
    @inject(RekeyingService) private readonly rekeying: RekeyingService,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
    @inject(UnreadEntryReader) private readonly news: UnreadEntryReader,
    @inject(LeaseClockAdjuster) private readonly times: LeaseClockAdjuster,
  ) {
    this.#duplicates = new DuplicateValidator({ items: itemRows }, items);
  }

  /**
   * @param ifMatch the header, or undefined
   * @param fits throws if the current state must not be changed, for example because it no longer
   *   matches a bulk filter
   * @throws ServiceError not_found, insufficient_scope, precondition_failed, already_claimed,
   *   lease_lost, claim_required, invalid_transition, reason_required, validation_failed
   */
  async edit(
    name: string,
    caller: BugCaller,
    edit: ItemEdit,
    ifMatch?: string,
    fits?: (item: ItemDoc) => void,
  ): Promise<Item> {
    return (await this.editWithDetails(name, caller, edit, ifMatch, fits)).item;
  }

  async editWithDetails(
    name: string,
    caller: BugCaller,
    edit: ItemEdit,
    ifMatch?: string,
    fits?: (item: ItemDoc) => void,
  ): Promise<EditResult> {
    const { id } = await this.items.get(name, caller);
    const { claim_token: _secret, ...written } = edit;
    await this.secrets.rejectSecrets(written);
    const tidy = await this.#resolveAssignee(normalizeEdit(edit));
    const run = (): Promise<EditResult> => this.#edit(id, caller, tidy, ifMatch, fits);
    return edit.duplicate_of ? this.#duplicates.runExclusive(run) : run();
  }

  async #edit(
    id: string,
    caller: BugCaller,
    given: ItemEdit,
    ifMatch: string | undefined,
    fits: ((item: ItemDoc) => void) | undefined,
  ): Promise<EditResult> {
    const texts = given.description === undefined ? null : await this.texts.get(id);
    let described = false;
    const moves: RekeyingDoc[] = [];
    let notes: EditNotes = { warnings: [], unread: null };
    const plan = async (item: ItemDoc, change: ChangeSet): Promise<void> => {
      const edit = withReviewStatus(item, given);
      checkRevision(item, ifMatch);
      fits?.(item);
      checkType(item, edit);
      notes = { warnings: await this.#buildWarnings(item, edit), unread: null };
      planHold(item, change, edit, caller, this.clock.now());
      this.#checkLease(item, change, edit, caller, needsClaim(item, edit, caller, texts?.description ?? null));
      planFields(item, change, edit, caller);
      described = edit.description !== undefined && edit.description !== (texts?.description ?? null);
      if (described)
        change
          .addHistoryEntry('edited', { fields: ['description'] })
          .assign({ trusted: updateTrustedFields(change.next.trusted, ['description'], caller) });
      planSeverity(change, edit, caller);
      await this.#planStatus(item, change, edit, caller);
      planReview(item, change, edit);
      if (edit.comment) this.#addComment(item, change, edit.comment, edit, caller);
      this.#renew(item, change, edit);
      if (change.by === 'holder') notes = { ...notes, unread: change.takeUnread() };
      await this.#planDuplicateMove(item, change, moves);
    };
    const doc = await this.items.change(id, caller, plan).catch(async (error: unknown) => {
      // After a fault, the job resolves the marker.
      if (error instanceof ServiceError) await this.rekeying.completeMoves(moves);
      if (error instanceof UnreadCommentError) throw await this.#createUnreadError(id, caller);
      throw error;
    });
    await this.rekeying.completeMoves(moves);
    if (described) await this.items.setDescription(id, given.description ?? null);
    const settled = await this.builds.closeIfPublished(await this.reviews.applyAfterEdit(doc, caller));
    const warnings = settled.status === 'closed' ? [] : notes.warnings;
    if (given.pr_url) warnings.push(...(await this.reviews.listWarnings(settled)));
    return {
      item: await this.items.toView(settled),
      ...(warnings.length > 0 && { warnings }),
      ...((given.resolved_in_build !== undefined || given.status === 'resolved') && {
        latest_build: await this.builds.findLatestVersion(doc.project),
      }),
      ...(notes.unread !== null && { news: await this.news.listUnread(doc, notes.unread) }),
    };
  }

  async #buildWarnings(item: ItemDoc, edit: ItemEdit): Promise<string[]> {
    if (!edit.resolved_in_build) return [];
    return buildWarnings(item, edit, await this.builds.listMatchingReleases(item.project, edit.resolved_in_build));
  }

  /** It may be the answer that the item needs. */
  #addComment(item: ItemDoc, change: ChangeSet, body: string, edit: ItemEdit, caller: BugCaller): void {
    change.addComment(body, getAuthorKind(caller));
    if (edit.status === 'resolved' || edit.status === 'closed')
      change.assign({ fix_comment: change.entries.at(-1)?.id ?? null });
    if (edit.status === undefined) planAnswer(item, change, caller);
  }

  /** Stores that the comment was reported first, so that the repeated call passes. */
  async #createUnreadError(id: string, caller: BugCaller): Promise<ServiceError> {
    let unread: readonly UnreadEntry[] = [];
    const doc = await this.items.change(id, caller, (_, change) => {
      change.by = 'holder';
      unread = change.takeUnread();
    });
    const news = await this.news.listUnread(doc, unread);
    return refusal('unread_news', 'Read `news`: a person has commented since your last call. Then repeat the call.', {
      extra: { news },
    });
  }

  /**
   * Assigns a user, independently of an agent's lease (contract 20, assignee and retention).
   * @param username null removes the assignee
   * @throws ServiceError not_found, insufficient_scope, validation_failed
   */
  async assign(name: string, caller: BugCaller, username: string | null): Promise<Item> {
    const { id } = await this.items.get(name, caller);
    const { assignee = null } = await this.#resolveAssignee({ assignee: username });
    const doc = await this.items.change(id, caller, (item, change) => planFields(item, change, { assignee }, caller));
    return this.items.toView(doc);
  }

  /** @throws ServiceError validation_failed when the account does not exist */
  async #resolveAssignee(edit: ItemEdit): Promise<ItemEdit> {
    if (!edit.assignee) return edit;
    const assignee = await this.accounts.findUsername(edit.assignee);
    if (assignee === null) throw invalid({ assignee: 'no account with this name can sign in' });
    return { ...edit, assignee };
  }

  /**
   * Moves the keys of an item that becomes, or stops being, a duplicate.
   * @param moves receives the started moves
   */
  async #planDuplicateMove(item: ItemDoc, change: ChangeSet, moves: RekeyingDoc[]): Promise<void> {
    const link = change.set.duplicate_of;
    if (link === undefined || link === item.duplicate_of) return;
    if (link !== null) await this.#duplicates.lockTarget(item, link);
    moves.push(await this.rekeying.beginMove(change, link));
  }

  #checkLease(item: ItemDoc, change: ChangeSet, edit: ItemEdit, caller: BugCaller, byClaim: boolean): void {
    const now = this.clock.now();
    const live = isLeaseLive(item.claim, now);
    if (item.status === 'in_progress' && !live) planExpiry(item, change);
    change.by = caller.kind === 'session' ? 'person' : 'other';
    if (change.next.claim === null && edit.hold === true) return;
    if (edit.claim_token !== undefined) {
      if (!live || item.claim === null || !matchesToken(item.claim, edit.claim_token))
        throw createLeaseLostError(item, edit.claim_token, caller, now);
      if (byClaim && item.claim.credential !== caller.id) throw createClaimRequiredError();
      change.by = 'holder';
      const ends = edit.status === 'resolved' || edit.status === 'closed';
      if (ends && listHumanComments(item.claim.unread ?? []).length > 0) throw new UnreadCommentError();
      return;
    }
    if (edit.force === true && live) {
      if (getEditReason(edit) === null) throw createReasonRequiredError('Overriding a live lease requires a `reason`.');
      change.addHistoryEntry('forced', { agent: item.claim?.agent ?? null, reason: getEditReason(edit) });
      change.overrides = true;
    } else if (live && item.claim !== null) throw createAlreadyClaimedError(item.claim, caller);
    if (byClaim) throw createClaimRequiredError();
  }

  #renew(item: ItemDoc, change: ChangeSet, edit: ItemEdit): void {
    if (edit.claim_token === undefined || change.next.claim === null || item.claim === null) return;
    const lease = renewLease(item.claim, this.clock.now(), this.times.getClockStamp());
    if (lease !== item.claim) change.assign({ claim: lease });
  }

  async #planStatus(item: ItemDoc, change: ChangeSet, edit: ItemEdit, caller: BugCaller): Promise<void> {
    const from = change.next.status;
    const to = edit.status ?? from;
    if (edit.status === 'in_progress') throw createTransitionError(from, to);
    if (to === 'duplicate') await this.#planDuplicate(item, change, edit);
    else if (edit.duplicate_of) throw invalid({ duplicate_of: 'only allowed with the status duplicate' });
    if (to === from) return planEditReason(item, change, edit);
    if (!isTransitionAllowed(from, to, 'patch')) throw createTransitionError(from, to);
    if (to === 'wont_fix' && getEditReason(edit) === null)
      throw createReasonRequiredError('The status wont_fix requires a `reason`.');
    planTransition(item, change, to, edit, caller);
  }

  /**
   * @throws ServiceError validation_failed for a missing target, and the errors of
   *   DuplicateValidator
   */
  async #planDuplicate(item: ItemDoc, change: ChangeSet, edit: ItemEdit): Promise<void> {
    if (!edit.duplicate_of) {
      if (item.status === 'duplicate') return;
      throw invalid({ duplicate_of: 'the status duplicate requires the original item' });
    }
    const { id } = await this.#duplicates.resolveTarget(item, edit.duplicate_of);
    if (item.duplicate_of === id) return;
    change.assign({ duplicate_of: id });
    if (item.status === 'duplicate')
      change.addHistoryEntry('edited', {
        fields: ['duplicate_of'],
        changes: [{ field: 'duplicate_of', from: item.duplicate_of, to: id }],
      });
  }
}
