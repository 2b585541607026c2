/**
 * The history entry's id derives from the change, so a repeated delivery does nothing (contract 20,
 * forges).
 */
import { hash } from 'node:crypto';
import { inject, injectable } from '../../../kernel/contract/index.js';
import { notFound } from '../../../kernel/errors.js';
import { getPullRequestPage } from '../../../lib/http/pull-request-page.js';
import type { ForgeChange, LinkOutcome } from '../../../ports/domain/forge-changes.js';
import type { Json, Collection } from '../../../ports/store/index.js';
import { ItemCloser } from '../builds/item-closer.js';
import type { BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import type { ChangeSet } from '../item/change-set.js';
import type { ActivityDoc, ItemDoc } from '../item/model.js';
import { isFinished } from '../item/transitions.js';
import { isLeaseLive } from '../item/api-views.js';
import { ItemService } from '../store/item-service.js';
import { SecretGuard } from '../store/secret-guard.js';
import { planMerge } from './review-plan.js';
import type { Clock } from '../../../ports/clock.js';

@injectable()
export class ForgeChangeService {
  constructor(
    @inject(DEPS.activity) private readonly activity: Collection<ActivityDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(ItemService) private readonly items: ItemService,
    @inject(ItemCloser) private readonly builds: ItemCloser,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
  ) {}

  /**
   * @param name id or ref
   * @param caller with the name of the author
   * @throws ServiceError not_found
   */
  async applyChange(name: string, caller: BugCaller, given: ForgeChange): Promise<LinkOutcome> {
    const found = await this.items.find(name);
    if (found === null) throw notFound(`issue ${name.slice(0, 100)}`);
    const change = { ...given, title: await this.#getSafeTitle(given.title) };
    const id = hash('sha256', [caller.id, found.id, given.key].join('\u001f')).slice(0, 40);
    let outcome: LinkOutcome = 'unchanged';
    const doc = await this.items.change(found.id, caller.name, async (item, plan) => {
      const known = item.outbox.find((entry) => entry.id === id) ?? (await this.activity.get(id));
      const follower = { id, by: caller.id, now: this.clock.now() };
      if (known === null) outcome = planChange(item, plan, change, follower);
      else
        outcome = isUnapplied(item, known, change, follower.now) ? planFix(item, plan, change, follower) : 'unchanged';
    });
    await this.builds.closeIfPublished(doc);
    return outcome;
  }

  /** Returns null for a title with a token of this service; the change still takes effect. */
  async #getSafeTitle(title: string): Promise<string | null> {
    return (await this.secrets.containsSecret(title)) ? null : title;
  }
}

type SafeForgeChange = Omit<ForgeChange, 'title'> & { title: string | null };
type ChangeAuthor = { id: string; by: string; now: number };

function planChange(item: ItemDoc, plan: ChangeSet, change: SafeForgeChange, follower: ChangeAuthor): LinkOutcome {
  const { kind, url, commit, title, state, fixes } = change;
  plan.addHistoryEntry(
    'linked',
    { kind, url, commit, title, state, fixes } satisfies { [name: string]: Json },
    follower.id,
  );
  if (
    kind === 'pull_request' &&
    url !== null &&
    url !== item.pr_url &&
    (fixes || !item.pr_url) &&
    !namesSamePullRequest(item, url)
  )
    plan.assign({ pr_url: url, pr_state: null, trusted: item.trusted.filter((field) => field !== 'pr_url') });
  return fixes ? planFix(item, plan, change, follower) : 'linked';
}

const namesSamePullRequest = ({ pr_url }: ItemDoc, url: string): boolean =>
  Boolean(pr_url) && getPullRequestPage(pr_url ?? '') === getPullRequestPage(url);

/** With a live lease, a commit only adds a comment. */
function planFix(item: ItemDoc, plan: ChangeSet, change: SafeForgeChange, { by, now }: ChangeAuthor): LinkOutcome {
  const isPull = change.kind === 'pull_request';
  if (!isPull && isLeaseLive(item.claim, now)) {
    plan.addComment(formatHeldComment(change, item));
    return 'commented';
  }
  if (isPull) plan.assign({ pr_state: 'merged' });
  return planMerge(item, plan, change.commit, { by, now });
}

/** Returns whether a lease kept an earlier delivery from being applied, without a reopen since. */
function isUnapplied(
  item: ItemDoc,
  { at }: Pick<ActivityDoc, 'at'>,
  { kind, fixes }: SafeForgeChange,
  now: number,
): boolean {
  if (!fixes || isFinished(item.status) || [item.reopened_at, item.regressed_at].some((time) => time && time >= at))
    return false;
  return kind === 'pull_request' || !isLeaseLive(item.claim, now);
}

function formatHeldComment({ kind, title, url, commit }: SafeForgeChange, item: ItemDoc): string {
  const what = kind === 'commit' ? `Commit ${commit?.slice(0, 12) ?? ''}` : 'A pull request';
  const named = title === null || title === '' ? '' : ` (${title})`;
  const where = url === null ? '' : `\n\n${url}`;
  const holder = item.claim?.agent ?? 'an agent';
  return `${what}${named} is on the default branch and is marked as a fix for this issue. The issue was not resolved, because ${holder} holds it.${where}`;
}
