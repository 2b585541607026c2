/** See tracked-items.ts for those of plugins, and feedback/feedback.ts for user feedback. */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { denied } from '../../../kernel/errors.js';
import type { Item } from '../../../ports/domain/bugs.js';
import { getAuthorKind, type BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import { UnreadEntryReader } from '../claims/unread-entries.js';
import { planAnswer } from './answer-plan.js';
import type { ChangeSet } from '../item/change-set.js';
import { createClaimRequiredError } from '../item/claim-rule.js';
import { matchesToken, createLeaseLostError, renewLease } from '../item/lease.js';
import type { ItemDoc, ItemOutboxEntry, UnreadEntry } from '../item/model.js';
import { toCommentView, isLeaseLive, toItemView } from '../item/api-views.js';
import { ItemService } from '../store/item-service.js';
import { toCommentDocument } from '../store/item-outbox.js';
import { LeaseClockAdjuster } from '../store/lease-clock-adjuster.js';
import { SecretGuard } from '../store/secret-guard.js';
import type { Clock } from '../../../ports/clock.js';

export interface CommentResult {
  comment: object;
  item: Pick<Item, 'ref' | 'status' | 'rev'>;
  news?: object[];
}

export interface NewComment {
  body: string;
  claim_token?: string;
  /** Keeps `needs_info`. */
  keep_status?: boolean;
}

@injectable()
export class CommentService {
  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(ItemService) private readonly items: ItemService,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
    @inject(UnreadEntryReader) private readonly news: UnreadEntryReader,
    @inject(LeaseClockAdjuster) private readonly times: LeaseClockAdjuster,
  ) {}

  /** @throws ServiceError not_found, insufficient_scope, lease_lost, validation_failed */
  async add(name: string, caller: BugCaller, { body, claim_token, keep_status }: NewComment): Promise<CommentResult> {
    const { id, reported_by } = await this.items.get(name, caller);
    if (!caller.manage && reported_by !== caller.id)
      throw denied('A token with only the report scope can comment only on items that it created.');
    await this.secrets.rejectSecrets({ body });
    let entry: ItemOutboxEntry | undefined;
    let unread: readonly UnreadEntry[] | null = null;
    const item = await this.items.change(id, caller, (now, change) => {
      change.by = caller.kind === 'session' ? 'person' : 'other';
      const holds = claim_token !== undefined && this.#renew(now, claim_token, caller, change);
      entry = change.addComment(body, getAuthorKind(caller)).entries.at(-1);
      if (keep_status !== true) planAnswer(now, change, caller);
      unread = holds ? change.takeUnread() : null;
    });
    const { ref, status, rev } = toItemView(item, null, this.clock.now());
    return {
      comment: toCommentView(toCommentDocument(item, entry as ItemOutboxEntry)),
      item: { ref, status, rev },
      ...(unread !== null && { news: await this.news.listUnread(item, unread) }),
    };
  }

  /** @throws ServiceError lease_lost, claim_required */
  #renew(item: ItemDoc, claimToken: string, caller: BugCaller, change: ChangeSet): true {
    const now = this.clock.now();
    if (!isLeaseLive(item.claim, now) || !matchesToken(item.claim, claimToken))
      throw createLeaseLostError(item, claimToken, caller, now);
    if (caller.by_tool === true && item.claim.credential !== caller.id) throw createClaimRequiredError();
    change.by = 'holder';
    const lease = renewLease(item.claim, now, this.times.getClockStamp(now));
    if (lease !== item.claim) change.assign({ claim: lease });
    return true;
  }
}
