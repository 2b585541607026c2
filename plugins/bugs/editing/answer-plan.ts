import type { BugCaller } from '../caller.js';
import type { ChangeSet } from '../item/change-set.js';
import type { ItemDoc } from '../item/model.js';

/**
 * Reopens an item in `needs_info` on a comment by a user or its creator's credential (contract 20,
 * transitions).
 */
export function planAnswer(item: ItemDoc, change: ChangeSet, caller: BugCaller): void {
  if (change.next.status !== 'needs_info') return;
  if (caller.kind !== 'session' && item.reported_by !== caller.id) return;
  change.setStatus('open', { why: 'answered' }).assign({ expired_count: 0, release_count: 0 });
}
