/** Events about items (contract 70, payload and signature). */
import { event } from '../token.js';
import type { Item, ItemStatus } from './item.js';

/**
 * Data of `bug.created`, `bug.critical`, `bug.resolved` and `feature.created` (contract 70,
 * payload).
 */
export interface BugEvent extends Pick<
  Item,
  'id' | 'ref' | 'type' | 'title' | 'severity' | 'client_ref' | 'regression' | 'people'
> {
  item_status: ItemStatus;
  tags?: string[];
}

/**
 * Data of `error.rate_exceeded`: a muted group exceeds its rule's threshold (contract 70, payload).
 */
export interface RateExceeded {
  id: string;
  ref: string;
  rule_id: string;
  /** Occurrences within the rolling hour. */
  count: number;
  threshold: number;
}

export const BUG_CREATED = event<BugEvent>('bug.created');
export const BUG_CRITICAL = event<BugEvent>('bug.critical');
export const BUG_RESOLVED = event<BugEvent>('bug.resolved');
/** An item's last blocker is done; `action=next` may hand it out again. */
export const BUG_UNBLOCKED = event<BugEvent>('bug.unblocked');
export const FEATURE_CREATED = event<BugEvent>('feature.created');
export const RATE_EXCEEDED = event<RateExceeded>('error.rate_exceeded');
