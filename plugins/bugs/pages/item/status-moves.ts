import type { ItemStatus } from '../../../../ports/domain/bugs.js';
import { isTransitionAllowed, STATUSES } from '../../item/transitions.js';

export interface StatusMove {
  to: ItemStatus;
  label: string;
  text: string;
  icon: string;
  reason: 'required' | 'optional';
  build: boolean;
  duplicate: boolean;
  danger: boolean;
  shortcut: string | null;
}

type MoveForm = Omit<StatusMove, 'to' | 'reason' | 'build' | 'duplicate' | 'danger' | 'shortcut'> & Partial<StatusMove>;

const MOVE_FORMS: Record<Exclude<ItemStatus, 'in_progress' | 'open'>, MoveForm> = {
  resolved: {
    label: 'Resolve',
    text: 'Closes when the fixed version is published.',
    icon: 'check',
    build: true,
  },
  closed: { label: 'Close', text: 'Shipped or verified.', icon: 'lock' },
  needs_info: { label: 'Needs info', text: 'Agents skip it until someone answers.', icon: 'inbox' },
  wont_fix: {
    label: 'Won’t fix',
    text: 'New events never reopen it.',
    icon: 'close',
    reason: 'required',
    danger: true,
  },
  duplicate: {
    label: 'Mark as duplicate',
    text: 'New events count on the other issue.',
    icon: 'merge',
    duplicate: true,
    danger: true,
  },
};

const REOPEN_LABELS: Record<ItemStatus, string> = {
  open: '',
  in_progress: 'Stop agent and reopen',
  needs_info: 'Reopen',
  resolved: 'Reopen',
  closed: 'Reopen',
  wont_fix: 'Reopen',
  duplicate: 'Split off and reopen',
};

const REOPEN_TEXTS: Partial<Record<ItemStatus, string>> = {
  in_progress: 'Interrupts the agent.',
  resolved: 'Clears the fixed version.',
  closed: 'Clears the fixed version.',
  duplicate: 'Counts its own events again.',
};

const MOVE_SHORTCUTS: Partial<Record<ItemStatus, string>> = { resolved: 'e', closed: 'c', open: 'u', needs_info: 'n' };

function findForm(from: ItemStatus, to: ItemStatus): MoveForm | null {
  if (to === 'in_progress') return null;
  if (to !== 'open') return MOVE_FORMS[to];
  return {
    label: REOPEN_LABELS[from],
    text: REOPEN_TEXTS[from] ?? 'Agents can pick it up.',
    icon: 'refresh',
  };
}

/** @param leased overriding the lease requires a reason */
export function listStatusMoves(from: ItemStatus, leased: boolean): StatusMove[] {
  return STATUSES.filter((to) => to !== from && isTransitionAllowed(from, to, 'patch')).flatMap((to) => {
    const form = findForm(from, to);
    if (form === null) return [];
    const { reason = 'optional', build = false, duplicate = false, danger = false, ...shown } = form;
    const shortcut = MOVE_SHORTCUTS[to] ?? null;
    return [{ ...shown, to, build, duplicate, danger, shortcut, reason: leased ? 'required' : reason }];
  });
}
