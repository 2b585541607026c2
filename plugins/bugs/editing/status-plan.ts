import { ServiceError } from '../../../kernel/errors.js';
import type { ItemStatus } from '../../../ports/domain/bugs.js';
import type { Json } from '../../../ports/store/index.js';
import type { BugCaller } from '../caller.js';
import type { ChangeSet } from '../item/change-set.js';
import type { ItemEdit } from '../item/edit.js';
import type { ItemDoc } from '../item/model.js';
import { getEditReason } from './edit-plans.js';

export function planTransition(
  item: ItemDoc,
  change: ChangeSet,
  to: ItemStatus,
  edit: ItemEdit,
  caller: BugCaller,
): void {
  const reason = getEditReason(edit);
  const why: { [key: string]: Json } = reason === null ? {} : { reason };
  if (to === 'duplicate') why['duplicate_of'] = change.next.duplicate_of;
  if (to === 'resolved' || to === 'closed') change.markFixed(to, { ...why, build: change.next.resolved_in_build });
  else if (to === 'open' && ['resolved', 'closed', 'wont_fix', 'duplicate'].includes(item.status)) {
    change.reopen(why).assign({ reopened_at: change.at, regression: false, reason: null });
    if (edit.resolved_in_build !== undefined) change.assign({ resolved_in_build: edit.resolved_in_build });
  } else change.setStatus(to, why);
  if (to !== 'open' || item.status === 'needs_info') change.assign({ release_count: 0 });
  if (to === 'open' && item.status === 'needs_info') change.assign({ expired_count: 0 });
  if (reason !== null) change.assign({ reason });
  if (to === 'resolved') change.assign({ resolved_by: caller.id, resolved_as: item.claim?.agent ?? caller.name });
}

/** @throws ServiceError precondition_failed */
export function checkRevision(item: ItemDoc, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const tags = ifMatch.split(',').map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'));
  if (!tags.includes(String(item.rev))) {
    throw new ServiceError('precondition_failed', `The item is at revision ${item.rev}.`);
  }
}
