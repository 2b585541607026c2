import { toIsoString } from '../../../lib/time.js';
import type { ItemDoc } from '../item/model.js';

export const UNMUTED_FIELDS = {
  muted: false,
  muted_reason: null,
  muted_by_rule_id: null,
  muted_until: null,
} as const satisfies Partial<ItemDoc>;

/** Whether a user has muted the item for longer than `now`; rules do not matter then. */
export const isMutedByUser = ({ muted, muted_until }: Pick<ItemDoc, 'muted' | 'muted_until'>, now: number): boolean =>
  muted && muted_until !== undefined && muted_until !== null && muted_until > toIsoString(now);
