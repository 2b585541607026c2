import { denied } from '../../../kernel/errors.js';
import type { BugCaller } from '../caller.js';
import { createReasonRequiredError } from '../errors.js';
import type { ChangeSet } from '../item/change-set.js';
import type { ItemEdit } from '../item/edit.js';
import type { ItemDoc } from '../item/model.js';
import { isHeld, isLeaseLive } from '../item/api-views.js';
import { getEditReason } from './edit-plans.js';

const canHold = ({ kind, by_tool }: BugCaller, edit: ItemEdit): boolean =>
  by_tool !== true && (kind !== 'token' || edit.force === true);

/**
 * A hold ends a live lease, and its holder learns the reason (contract 20, hold).
 * @throws ServiceError insufficient_scope, reason_required
 */
export function planHold(item: ItemDoc, change: ChangeSet, edit: ItemEdit, caller: BugCaller, now: number): void {
  if (edit.hold === undefined) return;
  if (!canHold(caller, edit)) throw denied('Only a person can set or lift a hold; a program must send `force`.');
  const reason = getEditReason(edit);
  if (!edit.hold) {
    if (isHeld(item)) change.addHistoryEntry('hold lifted', reason === null ? {} : { reason }).assign({ held: null });
    return;
  }
  if (reason === null) throw createReasonRequiredError('A hold requires a `reason`.');
  if (item.held?.reason !== reason)
    change.addHistoryEntry('held', { reason }).assign({ held: { reason, by: caller.name, at: change.at } });
  if (item.status === 'in_progress' && isLeaseLive(item.claim, now))
    change.setStatus('open', { why: 'held', reason }, 'overridden');
}
