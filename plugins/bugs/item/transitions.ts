/** The only place that defines which status may follow which, and why (contract 20). */
import type { ItemStatus } from '../../../ports/domain/bugs.js';

export type TransitionCause = 'claim' | 'release' | 'expiry' | 'patch' | 'publish' | 'regression';

interface TransitionRule {
  from: readonly ItemStatus[];
  to: ItemStatus;
  by: readonly TransitionCause[];
}

export const TRANSITIONS: readonly TransitionRule[] = [
  { from: ['open', 'needs_info'], to: 'in_progress', by: ['claim'] },
  { from: ['in_progress'], to: 'open', by: ['release', 'expiry', 'patch'] },
  { from: ['in_progress'], to: 'needs_info', by: ['expiry'] },
  { from: ['needs_info'], to: 'open', by: ['patch'] },
  { from: ['open', 'in_progress'], to: 'needs_info', by: ['patch'] },
  { from: ['open', 'in_progress', 'needs_info'], to: 'resolved', by: ['patch'] },
  { from: ['open', 'in_progress', 'needs_info', 'resolved'], to: 'closed', by: ['patch', 'publish'] },
  { from: ['open', 'in_progress', 'needs_info'], to: 'wont_fix', by: ['patch'] },
  { from: ['open', 'in_progress', 'needs_info'], to: 'duplicate', by: ['patch'] },
  { from: ['resolved', 'closed'], to: 'open', by: ['patch', 'regression'] },
  { from: ['wont_fix', 'duplicate'], to: 'open', by: ['patch'] },
];

export function isTransitionAllowed(from: ItemStatus, to: ItemStatus, by: TransitionCause): boolean {
  return TRANSITIONS.some((row) => row.to === to && row.from.includes(from) && row.by.includes(by));
}

export const STATUSES: readonly ItemStatus[] = [
  'open',
  'in_progress',
  'needs_info',
  'resolved',
  'closed',
  'wont_fix',
  'duplicate',
];
export const PUBLISH_CLOSABLE_STATUSES: ReadonlySet<ItemStatus> = new Set<ItemStatus>([
  'open',
  'in_progress',
  'needs_info',
  'resolved',
]);
export const REOPENABLE_STATUSES: ReadonlySet<ItemStatus> = new Set<ItemStatus>(['resolved', 'closed']);
/** Such an item blocks no other (contract 20, links). */
const FINISHED_STATUSES: ReadonlySet<ItemStatus> = new Set<ItemStatus>(['resolved', 'closed', 'wont_fix', 'duplicate']);

export const isFinished = (status: ItemStatus): boolean => FINISHED_STATUSES.has(status);
