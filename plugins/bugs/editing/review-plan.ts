/**
 * A merge resolves the item with the merge commit; a close without a merge reopens it (contract 20,
 * forges).
 */
import { invalid } from '../../../kernel/errors.js';
import type { ForgeOutcome, PullRequest } from '../../../ports/domain/forge-changes.js';
import type { ChangeSet } from '../item/change-set.js';
import type { ItemEdit } from '../item/edit.js';
import { planExpiry } from '../item/lease.js';
import type { ItemDoc } from '../item/model.js';
import { isTransitionAllowed, isFinished } from '../item/transitions.js';
import { isLeaseLive } from '../item/api-views.js';

export function withReviewStatus(item: ItemDoc, edit: ItemEdit): ItemEdit {
  const { pr_state, status } = edit;
  if (pr_state === undefined || status !== undefined) return edit;
  if (pr_state === 'merged' && !isFinished(item.status)) return { ...edit, status: 'resolved' };
  if (pr_state === 'closed' && item.review === 'open') return { ...edit, status: 'open' };
  const goesOn = pr_state === 'open' || pr_state === 'draft';
  return goesOn && isClosedUnmerged(item) ? { ...edit, status: 'resolved' } : edit;
}

const isClosedUnmerged = ({ status, review }: ItemDoc): boolean => status === 'open' && review === 'closed';

/** @throws ServiceError validation_failed */
export function planReview(item: ItemDoc, change: ChangeSet, edit: ItemEdit): void {
  const url = change.next.pr_url ?? null;
  const { status } = change.next;
  const begins = status === 'resolved' && item.status !== 'resolved';
  if (edit.pr_state !== undefined && url === null) throw invalid({ pr_state: 'requires a pr_url on the item' });
  if (edit.pr_state === 'closed' && edit.status === 'resolved')
    throw invalid({
      pr_state: 'a pull request closed without a merge is not a fix: send pr_state without a status to reopen the item',
    });
  if (item.review === 'open' && status === 'open' && edit.pr_state === 'closed') return planUnmerged(item, change, url);
  const isNamed = edit.pr_url !== undefined && (url !== (item.pr_url ?? null) || (begins && url !== null));
  if (isNamed || (edit.pr_url && !item.pr_fix_at))
    change.assign({ pr_fix_at: url === null ? null : change.at, pr_state: edit.pr_state ?? null });
  else if (edit.pr_state !== undefined && !item.pr_fix_at) change.assign({ pr_fix_at: change.at });
  const touched = isNamed || edit.pr_state !== undefined || edit.fix_commit !== undefined;
  if (begins || (status === 'resolved' && touched)) planReviewState(item, change);
}

function planReviewState(item: ItemDoc, change: ChangeSet): void {
  const { pr_url, pr_state, pr_fix_at, fix_commit, review } = change.next;
  const isFix = Boolean(pr_url && pr_fix_at);
  const waits = isFix && !fix_commit && pr_state !== 'merged' && pr_state !== 'closed';
  const to = waits ? 'open' : isFix && pr_state === 'merged' ? 'merged' : null;
  if (to !== (review ?? null)) change.assign({ review: to });
  if (waits && !pr_state) change.assign({ pr_state: 'open' });
  // The fix arrives with the merge, not when the agent finished.
  if (item.review === 'open' && to === 'merged') change.assign({ resolved_at: change.at });
}

function planUnmerged(item: ItemDoc, change: ChangeSet, url: string | null): void {
  const reason = `The pull request was closed without a merge${url === null ? '' : `: ${url}`}`;
  change.assign({
    review: 'closed',
    pr_state: 'closed',
    pr_fix_at: item.pr_fix_at ?? null,
    handed: { by: item.resolved_as ?? item.resolved_by ?? change.actor, reason, at: change.at },
  });
  if (item.earlier_fix !== undefined) change.assign({ earlier_fix: item.earlier_fix });
  else delete change.set.earlier_fix;
}

interface ChangeAuthor {
  by: string;
  now: number;
}

export function planPullRequest(
  item: ItemDoc,
  change: ChangeSet,
  { state, url, commit }: Pick<PullRequest, 'state' | 'url' | 'commit'>,
  follower: ChangeAuthor,
): ForgeOutcome {
  if (item.pr_state === state) return 'unchanged';
  if (state === 'merged') {
    change.assign({ pr_state: state });
    return planMerge(item, change, commit, follower);
  }
  if (state === 'closed' && item.review === 'open') {
    change.reopen({ why: 'pull request closed', url }).assign({ reopened_at: change.at });
    planUnmerged(item, change, item.pr_url ?? url);
    return 'reopened';
  }
  change.assign({ pr_state: state });
  if (state === 'closed') change.addHistoryEntry('pull request closed', { url });
  else if (isClosedUnmerged(item))
    change.markFixed('resolved', { why: 'pull request reopened', url }).assign({ review: 'open' });
  return 'linked';
}

/** It ends an agent's lease. */
export function planMerge(
  item: ItemDoc,
  change: ChangeSet,
  commit: string | null,
  { by, now }: ChangeAuthor,
): 'resolved' | 'linked' {
  const holder = isLeaseLive(item.claim, now) ? item.claim : null;
  if (item.status === 'in_progress' && holder === null) planExpiry(item, change);
  const { status, review, fix_commit: known = null, resolved_in_build: build, trusted } = change.next;
  if (status === 'resolved') {
    if (review === 'open')
      change
        .addHistoryEntry('pull request merged', { commit })
        .assign({ review: 'merged', pr_state: 'merged', resolved_at: change.at });
    if (commit !== null && !known)
      change.assign({ fix_commit: commit, trusted: trusted.filter((field) => field !== 'fix_commit') });
    return 'linked';
  }
  if (!isTransitionAllowed(status, 'resolved', 'patch')) return 'linked';
  // The last holder may correct the forge (claim-rule.ts).
  const worker = holder ?? change.next.last_holder ?? null;
  change.markFixed('resolved', { why: 'merged', build, commit }).assign({
    fix_commit: commit ?? known,
    resolved_by: worker?.credential ?? by,
    ...(worker !== null && { resolved_as: worker.agent }),
    release_count: 0,
    trusted: trusted.filter((field) => field !== 'fix_commit'),
    ...(change.next.pr_state === 'merged' && { review: 'merged' }),
  });
  return 'resolved';
}
