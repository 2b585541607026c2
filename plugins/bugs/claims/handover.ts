/** Tells the next agent about the previous one (contract 20, leases: `handover`). */
import { inject, injectable } from '../../../kernel/contract/index.js';
import type { Item } from '../../../ports/domain/bugs.js';
import { DEPS } from '../deps.js';
import type { ItemDoc, CommentDoc } from '../item/model.js';
import { toCommentView, isLeaseLive } from '../item/api-views.js';
import { ItemService } from '../store/item-service.js';
import type { Clock } from '../../../ports/clock.js';
import type { Collection } from '../../../ports/store/index.js';

const MAX_COMMENTS = 5;

export interface Handover {
  released_by: string | null;
  reason: string | null;
  at: string | null;
  /** Newest first. */
  comments: object[];
  earlier_fix: { build: string | null; commit: string | null; comment: string | null } | null;
  untrusted_fields: string[];
}

const UNTRUSTED_HANDOVER_FIELDS = [
  'released_by',
  'reason',
  'earlier_fix.build',
  'earlier_fix.commit',
  'earlier_fix.comment',
];

export const NO_HANDOVER: Handover = {
  released_by: null,
  reason: null,
  at: null,
  comments: [],
  earlier_fix: null,
  untrusted_fields: [],
};

/** Returns whether it was created and claimed only once: no handover. */
export const isUntouched = ({ rev, claim_count }: Pick<ItemDoc, 'rev' | 'claim_count'>): boolean =>
  rev <= 1 + claim_count && claim_count <= 1;

@injectable()
export class HandoverBuilder {
  constructor(
    @inject(DEPS.comments) private readonly comments: Collection<CommentDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(ItemService) private readonly items: ItemService,
  ) {}

  async buildClaimDetails(item: ItemDoc): Promise<{ item: Item; handover: Handover }> {
    return { item: await this.items.toView(item), handover: await this.build(item) };
  }

  async build(item: ItemDoc): Promise<Handover> {
    if (isUntouched(item)) return NO_HANDOVER;
    const { comments, clock } = this;
    const last = await comments.find({
      filter: { item_id: item.id },
      sort: [['created_at', 'desc']],
      limit: MAX_COMMENTS,
    });
    // An expired lease may not be recorded yet.
    const { claim } = item;
    const live: boolean = isLeaseLive(claim, clock.now());
    const handed =
      claim === null || live ? item.handed : { by: claim.agent, reason: 'lease expired', at: claim.expires_at };
    return {
      released_by: handed?.by ?? null,
      reason: handed?.reason ?? null,
      at: handed?.at ?? null,
      comments: last.items.map(toCommentView),
      earlier_fix: await this.#findEarlierFix(item),
      untrusted_fields: UNTRUSTED_HANDOVER_FIELDS,
    };
  }

  async #findEarlierFix({ earlier_fix: fix }: ItemDoc): Promise<Handover['earlier_fix']> {
    if (fix === undefined) return null;
    const comment = fix.comment === null ? null : await this.comments.get(fix.comment);
    return { build: fix.build, commit: fix.commit, comment: comment?.body ?? null };
  }
}
