/** A comment that answers what an item needs to know (contract 20, transitions). Pure. */
import type { BugCaller } from '../caller.js';
import type { ChangeSet } from '../item/change-set.js';
import type { ItemDoc } from '../item/model.js';

/** Moves an item back to open when a person, or the credential that made the item, has answered. */
export function planAnswer(item: ItemDoc, change: ChangeSet, caller: BugCaller): void {
  if (change.next.status !== 'needs_info') return;
  if (caller.kind !== 'session' && item.reported_by !== caller.id) return;
  change.status('open', { why: 'answered' }).assign({ expired_count: 0, release_count: 0 });
}
