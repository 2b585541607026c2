/**
 * PATCH of an item (contract 20, endpoints): every condition is checked on the state that is then written by
 * compare-and-set, so a refused change changes nothing, also not the other fields of its body.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { invalid, ServiceError } from '../../../kernel/errors.js';
import type { Item, ItemStatus } from '../../../ports/domain/bugs.js';
import type { Json } from '../../../ports/store.js';
import type { BugCaller } from '../caller.js';
import { Closing } from '../builds/closing.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { Edit } from '../item/edit.js';
import type { ChangeSet } from '../item/change-set.js';
import { Duplicates } from '../merging/duplicates.js';
import { Items } from '../store/items.js';
import { alreadyClaimed, isToken, leaseLost, notFrom, planExpiry, touched } from '../item/lease.js';
import { claimRequired, needsClaim } from '../item/claim-rule.js';
import type { ItemDoc } from '../item/model.js';
import type { MoveDoc } from '../item/work-documents.js';
import { SecretGuard } from '../store/secret-guard.js';
import { planFields, planReason, planSeverity, reasonOf, tidied, trusting } from './edit-plans.js';
import { Rekeying } from '../merging/rekeying.js';
import { allowed } from '../item/transitions.js';
import { isLive } from '../item/view.js';

@injectable()
export class Edits {
  readonly #duplicates: Duplicates;

  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Items) private readonly items: Items,
    @inject(Closing) private readonly builds: Closing,
    @inject(Rekeying) private readonly rekeying: Rekeying,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
  ) {
    this.#duplicates = new Duplicates(deps, items);
  }

  /**
   * @param ifMatch the header, or undefined
   * @param fits asked of the state that is about to be changed (bulk: it still matches the filter)
   * @throws ServiceError not_found, insufficient_scope, precondition_failed, already_claimed, lease_lost,
   * claim_required,
   *   invalid_transition, reason_required, validation_failed
   */
  async edit(
    name: string,
    caller: BugCaller,
    edit: Edit,
    ifMatch?: string,
    fits?: (item: ItemDoc) => void,
  ): Promise<Item> {
    const { id } = await this.items.need(name, caller);
    const { claim_token: _secret, ...written } = edit;
    await this.secrets.refuse(written);
    const tidy = await this.#assigned(tidied(edit));
    const run = (): Promise<Item> => this.#edit(id, caller, tidy, ifMatch, fits);
    return edit.duplicate_of ? this.#duplicates.inTurn(run) : run();
  }

  async #edit(
    id: string,
    caller: BugCaller,
    edit: Edit,
    ifMatch: string | undefined,
    fits: ((item: ItemDoc) => void) | undefined,
  ): Promise<Item> {
    const texts = edit.description === undefined ? null : await this.deps.texts.get(id);
    let described = false;
    const moves: MoveDoc[] = [];
    const plan = async (item: ItemDoc, change: ChangeSet): Promise<void> => {
      checkRevision(item, ifMatch);
      fits?.(item);
      this.#lease(item, change, edit, caller, needsClaim(item, edit, caller, texts?.description ?? null));
      planFields(item, change, edit, caller);
      described = edit.description !== undefined && edit.description !== (texts?.description ?? null);
      if (described)
        change
          .note('edited', { fields: ['description'] })
          .assign({ trusted: trusting(change.next.trusted, ['description'], caller) });
      planSeverity(change, edit);
      await this.#status(item, change, edit, caller);
      if (edit.comment) change.comment(edit.comment);
      this.#renew(item, change, edit);
      await this.#link(item, change, moves);
    };
    const doc = await this.items.change(id, caller.name, plan).catch(async (error: unknown) => {
      // A refusal leaves no marker behind; after a fault the job looks.
      if (error instanceof ServiceError) await this.rekeying.finish(moves);
      throw error;
    });
    await this.rekeying.finish(moves);
    if (described) await this.deps.texts.change({ id }, { set: { description: edit.description } }, { upsert: true });
    return this.items.view(await this.builds.closeIfPublished(doc));
  }

  /**
   * A person takes the item, or gives it back: beside a lease, which is an agent's (contract 20, assignee and
   * retention).
   * @param username of the account that has it from now on; null removes the assignee
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
   * The assignee as the account spells the name. @throws ServiceError validation_failed when there is no such account
   */
  async #assigned(edit: Edit): Promise<Edit> {
    if (!edit.assignee) return edit;
    const assignee = await this.deps.accounts.named(edit.assignee);
    if (assignee === null) throw invalid({ assignee: 'there is no account of this name that may sign in' });
    return { ...edit, assignee };
  }

  /**
   * An item that becomes, or stops being, a duplicate takes its grouping keys along. @param moves what has been begun
   */
  async #link(item: ItemDoc, change: ChangeSet, moves: MoveDoc[]): Promise<void> {
    const link = change.set.duplicate_of;
    if (link === undefined || link === item.duplicate_of) return;
    if (link !== null) await this.#duplicates.hold(item, link);
    moves.push(await this.rekeying.begin(change, link));
  }

  /**
   * Who may write: any caller while no lease is live, the holder of the lease, or a caller who overrides it with a
   * reason.
   */
  #lease(item: ItemDoc, change: ChangeSet, edit: Edit, caller: BugCaller, byClaim: boolean): void {
    const now = this.deps.clock.now();
    const live = isLive(item.claim, now);
    if (item.status === 'in_progress' && !live) planExpiry(item, change);
    if (edit.claim_token !== undefined) {
      if (!live || item.claim === null || !isToken(item.claim, edit.claim_token))
        throw leaseLost(item, edit.claim_token, caller, now);
      if (byClaim && item.claim.credential !== caller.id) throw claimRequired();
      return;
    }
    if (edit.force === true && live) {
      if (reasonOf(edit) === null)
        throw new ServiceError('reason_required', 'An override of a live lease needs a `reason`.');
      change.note('forced', { agent: item.claim?.agent ?? null, reason: reasonOf(edit) });
      change.overrides = true;
    } else if (live && item.claim !== null) throw alreadyClaimed(item.claim, caller);
    if (byClaim) throw claimRequired();
  }

  /** Any write by the holder renews. */
  #renew(item: ItemDoc, change: ChangeSet, edit: Edit): void {
    if (edit.claim_token === undefined || change.next.claim === null || item.claim === null) return;
    const lease = touched(item.claim, this.deps.clock.now());
    if (lease !== item.claim) change.assign({ claim: lease });
  }

  async #status(item: ItemDoc, change: ChangeSet, edit: Edit, caller: BugCaller): Promise<void> {
    const from = change.next.status;
    const to = edit.status ?? from;
    if (edit.status === 'in_progress') throw notFrom(from, to);
    if (to === 'duplicate') await this.#duplicate(item, change, edit);
    else if (edit.duplicate_of) throw invalid({ duplicate_of: 'only for the status duplicate' });
    if (to === from) return planReason(item, change, edit);
    if (!allowed(from, to, 'patch')) throw notFrom(from, to);
    if (to === 'wont_fix' && reasonOf(edit) === null)
      throw new ServiceError('reason_required', 'The status wont_fix needs a `reason`.');
    this.#move(item, change, to, edit, caller);
  }

  #move(item: ItemDoc, change: ChangeSet, to: ItemStatus, edit: Edit, caller: BugCaller): void {
    const reason = reasonOf(edit);
    const why: { [key: string]: Json } = reason === null ? {} : { reason };
    if (to === 'duplicate') why['duplicate_of'] = change.next.duplicate_of;
    if (to === 'resolved' || to === 'closed') change.fixed(to, { ...why, build: change.next.resolved_in_build });
    else if (to === 'open' && ['resolved', 'closed', 'wont_fix', 'duplicate'].includes(item.status)) {
      change.reopen(why).assign({ reopened_at: change.at, regression: false, reason: null });
      if (edit.resolved_in_build !== undefined) change.assign({ resolved_in_build: edit.resolved_in_build });
    } else change.status(to, why);
    if (to !== 'open' || item.status === 'needs_info') change.assign({ release_count: 0 });
    if (to === 'open' && item.status === 'needs_info') change.assign({ expired_count: 0 });
    if (reason !== null) change.assign({ reason });
    if (to === 'resolved') change.assign({ resolved_by: caller.id });
  }

  /** @throws ServiceError validation_failed for a missing target, and what Duplicates refuses */
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

/** @throws ServiceError precondition_failed */
function checkRevision(item: ItemDoc, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const tags = ifMatch.split(',').map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'));
  if (!tags.includes(String(item.rev))) {
    throw new ServiceError('precondition_failed', `The item is at revision ${item.rev}.`);
  }
}
