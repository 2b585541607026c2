/**
 * A delivery and an edit both store their state before they look up the other, so neither misses
 * the other (contract 20, forges). The job `bugs.reconcile` finishes what a crash leaves.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { collectAll, iteratePages } from '../../../lib/paging.js';
import type { ForgeOutcome, ReceivedPullRequest, PullRequests } from '../../../ports/domain/forge-changes.js';
import { ItemCloser } from '../builds/item-closer.js';
import { SYSTEM_CALLER, type BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import { getPullRequestKey } from '../item/derived-fields.js';
import { findPullRequest } from '../builds/find-pull-request.js';
import type { ItemDoc } from '../item/model.js';
import { ItemService } from '../store/item-service.js';
import { planPullRequest } from './review-plan.js';
import type { Clock } from '../../../ports/clock.js';
import type { Collection } from '../../../ports/store/index.js';

const BATCH_SIZE = 100;

type ReviewActor = Pick<BugCaller, 'id' | 'name'>;

@injectable()
export class PullRequestReviewService {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(DEPS.pullRequests) private readonly pullRequests: () => readonly PullRequests[],
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(ItemService) private readonly items: ItemService,
    @inject(ItemCloser) private readonly builds: ItemCloser,
  ) {}

  async applyToItems(
    project: string,
    url: string,
    caller: ReviewActor,
  ): Promise<{ ref: string; outcome: ForgeOutcome }[]> {
    const pull = await findPullRequest({ pullRequests: this.pullRequests }, project, url);
    if (pull === null) return [];
    const filter = { pr_key: getPullRequestKey(project, url) };
    const followed: { ref: string; outcome: ForgeOutcome }[] = [];
    for (const { id, ref } of await collectAll(this.itemRows, { filter, limit: BATCH_SIZE }))
      followed.push({ ref, outcome: (await this.#apply(id, pull, caller)).outcome });
    return followed;
  }

  async applyAfterEdit(item: ItemDoc, caller: ReviewActor = SYSTEM_CALLER): Promise<ItemDoc> {
    if (!item.pr_key || !item.pr_url) return item;
    const pull = await findPullRequest({ pullRequests: this.pullRequests }, item.project, item.pr_url);
    return pull !== null && isDue(item, pull) ? (await this.#apply(item.id, pull, caller)).doc : item;
  }

  async listWarnings({ project, pr_url, review }: ItemDoc): Promise<string[]> {
    const pull =
      review === 'open' && pr_url ? await findPullRequest({ pullRequests: this.pullRequests }, project, pr_url) : null;
    if (pull?.state !== 'closed') return [];
    return ['This pull request was closed without a merge: reopen it, or send another `pr_url` or a `fix_commit`.'];
  }

  async reconcile(signal?: AbortSignal): Promise<void> {
    const waiting = { pr_key: { gt: '' } };
    for await (const page of iteratePages(this.itemRows, {
      filter: waiting,
      sort: [['pr_key', 'asc']],
      limit: BATCH_SIZE,
    })) {
      for (const item of page) await this.applyAfterEdit(item);
      if (signal?.aborted === true) return;
    }
  }

  async #apply(
    id: string,
    pull: ReceivedPullRequest,
    { id: by, name }: ReviewActor,
  ): Promise<{ doc: ItemDoc; outcome: ForgeOutcome }> {
    let outcome: ForgeOutcome = 'unchanged';
    const doc = await this.items.change(id, name, (item, change) => {
      const still = item.pr_key === getPullRequestKey(item.project, pull.url);
      outcome = still ? planPullRequest(item, change, pull, { by, now: this.clock.now() }) : 'unchanged';
    });
    return { doc: await this.builds.closeIfPublished(doc), outcome };
  }
}

/** A pull request closed before the item named it has no effect. */
function isDue({ pr_state, pr_fix_at, review }: ItemDoc, { state, heard_at }: ReceivedPullRequest): boolean {
  if (pr_state === state || (state !== 'merged' && state !== 'closed')) return false;
  return heard_at > (pr_fix_at ?? '') || (state === 'merged' && review === 'open');
}
