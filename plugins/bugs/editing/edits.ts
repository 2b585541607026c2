/**
 * PATCH of an item (contract 20, endpoints). Conditions are checked on the state that
 * compare-and-set replaces, so a rejected change writes nothing.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { invalid, ServiceError } from '../../../kernel/errors.js';
import type { Item } from '../../../ports/domain/bugs.js';
import { getAuthorKind, type BugCaller } from '../caller.js';
import { Closing } from '../builds/closing.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { Edit } from '../item/edit.js';
import type { ChangeSet } from '../item/change-set.js';
import { Duplicates } from '../merging/duplicates.js';
import { Items } from '../store/items.js';
import {
  createAlreadyClaimedError,
  isToken,
  createLeaseLostError,
  createTransitionError,
  planExpiry,
  renewLease,
} from '../item/lease.js';
import { createClaimRequiredError, needsClaim } from '../item/claim-rule.js';
import type { ItemDoc, Unread } from '../item/model.js';
import type { MoveDoc } from '../item/work-documents.js';
import { LeaseTimes } from '../store/lease-times.js';
import { SecretGuard } from '../store/secret-guard.js';
import { createReasonRequiredError, refusal } from '../errors.js';
import { News } from '../claims/news.js';
import { listHumanComments } from '../item/unread.js';
import { planAnswer } from './answering.js';
import { planHold } from './hold-plan.js';
import { planReview, withReviewStatus } from './review-plan.js';
import { Reviews } from './reviews.js';
import { checkRevision, planMove } from './status-plan.js';
import {
  buildWarnings,
  checkType,
  planFields,
  planReason,
  planSeverity,
  getEditReason,
  normalizeEdit,
  updateTrustedFields,
} from './edit-plans.js';
import { Rekeying } from '../merging/rekeying.js';
import { isTransitionAllowed } from '../item/transitions.js';
import { isLive } from '../item/view.js';

export interface Edited {
  item: Item;
  warnings?: string[];
  /** The highest published version, if the edit concerns a build. */
  latest_build?: string | null;
  /** For the holder of the lease: what others wrote or changed since its last call. */
  news?: object[];
}

interface Told {
  warnings: string[];
  /** Null if the caller holds no lease. */
  unread: readonly Unread[] | null;
}

/**
 * Thrown by a plan that would finish the work although the holder has not seen a user's comment.
 */
class Unheard extends Error {
  override name = 'Unheard';
}

@injectable()
export class Edits {
  readonly #duplicates: Duplicates;

  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Items) private readonly items: Items,
    @inject(Closing) private readonly builds: Closing,
    @inject(Reviews) private readonly reviews: Reviews,
    @inject(Rekeying) private readonly rekeying: Rekeying,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
    @inject(News) private readonly news: News,
    @inject(LeaseTimes) private readonly times: LeaseTimes,
  ) {
    this.#duplicates = new Duplicates(deps, items);
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
    edit: Edit,
    ifMatch?: string,
    fits?: (item: ItemDoc) => void,
  ): Promise<Item> {
    return (await this.answered(name, caller, edit, ifMatch, fits)).item;
  }

  async answered(
    name: string,
    caller: BugCaller,
    edit: Edit,
    ifMatch?: string,
    fits?: (item: ItemDoc) => void,
  ): Promise<Edited> {
    const { id } = await this.items.need(name, caller);
    const { claim_token: _secret, ...written } = edit;
    await this.secrets.refuse(written);
    const tidy = await this.#assigned(normalizeEdit(edit));
    const run = (): Promise<Edited> => this.#edit(id, caller, tidy, ifMatch, fits);
    return edit.duplicate_of ? this.#duplicates.inTurn(run) : run();
  }

  async #edit(
    id: string,
    caller: BugCaller,
    given: Edit,
    ifMatch: string | undefined,
    fits: ((item: ItemDoc) => void) | undefined,
  ): Promise<Edited> {
    const texts = given.description === undefined ? null : await this.deps.texts.get(id);
    let described = false;
    const moves: MoveDoc[] = [];
    let told: Told = { warnings: [], unread: null };
    const plan = async (item: ItemDoc, change: ChangeSet): Promise<void> => {
      const edit = withReviewStatus(item, given);
      checkRevision(item, ifMatch);
      fits?.(item);
      checkType(item, edit);
      told = { warnings: await this.#buildWarnings(item, edit), unread: null };
      planHold(item, change, edit, caller, this.deps.clock.now());
      this.#lease(item, change, edit, caller, needsClaim(item, edit, caller, texts?.description ?? null));
      planFields(item, change, edit, caller);
      described = edit.description !== undefined && edit.description !== (texts?.description ?? null);
      if (described)
        change
          .note('edited', { fields: ['description'] })
          .assign({ trusted: updateTrustedFields(change.next.trusted, ['description'], caller) });
      planSeverity(change, edit, caller);
      await this.#status(item, change, edit, caller);
      planReview(item, change, edit);
      if (edit.comment) this.#comment(item, change, edit.comment, edit, caller);
      this.#renew(item, change, edit);
      if (change.by === 'holder') told = { ...told, unread: change.heard() };
      await this.#link(item, change, moves);
    };
    const doc = await this.items.change(id, caller.name, plan).catch(async (error: unknown) => {
      // A rejection leaves no marker behind; after a fault the job resolves it.
      if (error instanceof ServiceError) await this.rekeying.finish(moves);
      if (error instanceof Unheard) throw await this.#tell(id, caller);
      throw error;
    });
    await this.rekeying.finish(moves);
    if (described) await this.items.describe(id, given.description ?? null);
    const settled = await this.builds.closeIfPublished(await this.reviews.settle(doc, caller));
    const warnings = settled.status === 'closed' ? [] : told.warnings;
    if (given.pr_url) warnings.push(...(await this.reviews.warnings(settled)));
    return {
      item: await this.items.view(settled),
      ...(warnings.length > 0 && { warnings }),
      ...((given.resolved_in_build !== undefined || given.status === 'resolved') && {
        latest_build: await this.builds.latest(doc.project),
      }),
      ...(told.unread !== null && { news: await this.news.of(doc, told.unread) }),
    };
  }

  async #buildWarnings(item: ItemDoc, edit: Edit): Promise<string[]> {
    if (!edit.resolved_in_build) return [];
    return buildWarnings(item, edit, await this.builds.releases(item.project, edit.resolved_in_build));
  }

  /** Adds a comment, stored with the change. It may be the answer that the item needs. */
  #comment(item: ItemDoc, change: ChangeSet, body: string, edit: Edit, caller: BugCaller): void {
    change.comment(body, getAuthorKind(caller));
    if (edit.status === 'resolved' || edit.status === 'closed')
      change.assign({ fix_comment: change.entries.at(-1)?.id ?? null });
    if (edit.status === undefined) planAnswer(item, change, caller);
  }

  /**
   * Reports a user's comment to the holder, after storing that it was reported, so that the
   * repeated call passes.
   */
  async #tell(id: string, caller: BugCaller): Promise<ServiceError> {
    let unread: readonly Unread[] = [];
    const doc = await this.items.change(id, caller.name, (_, change) => {
      change.by = 'holder';
      unread = change.heard();
    });
    const news = await this.news.of(doc, unread);
    return refusal(
      'unread_news',
      'Read `news`: a person has commented since your last call. Then send the same call again.',
      {
        extra: { news },
      },
    );
  }

  /**
   * Assigns the item to a user, or removes the assignee, independently of an agent's lease
   * (contract 20, assignee and retention).
   * @param username account name; null removes the assignee
   * @throws ServiceError not_found, insufficient_scope, validation_failed
   */
  async assign(name: string, caller: BugCaller, username: string | null): Promise<Item> {
    const { id } = await this.items.need(name, caller);
    const { assignee = null } = await this.#assigned({ assignee: username });
    const doc = await this.items.change(id, caller.name, (item, change) =>
      planFields(item, change, { assignee }, caller),
    );
    return this.items.view(doc);
  }

  /**
   * Resolves the assignee to the account's spelling of the name.
   * @throws ServiceError validation_failed when the account does not exist
   */
  async #assigned(edit: Edit): Promise<Edit> {
    if (!edit.assignee) return edit;
    const assignee = await this.deps.accounts.named(edit.assignee);
    if (assignee === null) throw invalid({ assignee: 'there is no account of this name that may sign in' });
    return { ...edit, assignee };
  }

  /**
   * Moves the grouping keys of an item that becomes, or stops being, a duplicate.
   * @param moves receives the moves that were started
   */
  async #link(item: ItemDoc, change: ChangeSet, moves: MoveDoc[]): Promise<void> {
    const link = change.set.duplicate_of;
    if (link === undefined || link === item.duplicate_of) return;
    if (link !== null) await this.#duplicates.hold(item, link);
    moves.push(await this.rekeying.begin(change, link));
  }

  /**
   * Checks who may write: any caller while no lease is live, the holder of the lease, or a caller
   * who overrides it with a reason.
   */
  #lease(item: ItemDoc, change: ChangeSet, edit: Edit, caller: BugCaller, byClaim: boolean): void {
    const now = this.deps.clock.now();
    const live = isLive(item.claim, now);
    if (item.status === 'in_progress' && !live) planExpiry(item, change);
    change.by = caller.kind === 'session' ? 'person' : 'other';
    if (change.next.claim === null && edit.hold === true) return;
    if (edit.claim_token !== undefined) {
      if (!live || item.claim === null || !isToken(item.claim, edit.claim_token))
        throw createLeaseLostError(item, edit.claim_token, caller, now);
      if (byClaim && item.claim.credential !== caller.id) throw createClaimRequiredError();
      change.by = 'holder';
      const ends = edit.status === 'resolved' || edit.status === 'closed';
      if (ends && listHumanComments(item.claim.unread ?? []).length > 0) throw new Unheard();
      return;
    }
    if (edit.force === true && live) {
      if (getEditReason(edit) === null)
        throw createReasonRequiredError('An override of a live lease needs a `reason`.');
      change.note('forced', { agent: item.claim?.agent ?? null, reason: getEditReason(edit) });
      change.overrides = true;
    } else if (live && item.claim !== null) throw createAlreadyClaimedError(item.claim, caller);
    if (byClaim) throw createClaimRequiredError();
  }

  #renew(item: ItemDoc, change: ChangeSet, edit: Edit): void {
    if (edit.claim_token === undefined || change.next.claim === null || item.claim === null) return;
    const lease = renewLease(item.claim, this.deps.clock.now(), this.times.mark());
    if (lease !== item.claim) change.assign({ claim: lease });
  }

  async #status(item: ItemDoc, change: ChangeSet, edit: Edit, caller: BugCaller): Promise<void> {
    const from = change.next.status;
    const to = edit.status ?? from;
    if (edit.status === 'in_progress') throw createTransitionError(from, to);
    if (to === 'duplicate') await this.#duplicate(item, change, edit);
    else if (edit.duplicate_of) throw invalid({ duplicate_of: 'only for the status duplicate' });
    if (to === from) return planReason(item, change, edit);
    if (!isTransitionAllowed(from, to, 'patch')) throw createTransitionError(from, to);
    if (to === 'wont_fix' && getEditReason(edit) === null)
      throw createReasonRequiredError('The status wont_fix needs a `reason`.');
    planMove(item, change, to, edit, caller);
  }

  /**
   * @throws ServiceError validation_failed for a missing target, and the errors of
   *   DuplicateValidator
   */
  async #duplicate(item: ItemDoc, change: ChangeSet, edit: Edit): Promise<void> {
    if (!edit.duplicate_of) {
      if (item.status === 'duplicate') return;
      throw invalid({ duplicate_of: 'the status duplicate needs the item that this one repeats' });
    }
    const { id } = await this.#duplicates.target(item, edit.duplicate_of);
    if (item.duplicate_of === id) return;
    change.assign({ duplicate_of: id });
    if (item.status === 'duplicate')
      change.note('edited', {
        fields: ['duplicate_of'],
        changes: [{ field: 'duplicate_of', from: item.duplicate_of, to: id }],
      });
  }
}
