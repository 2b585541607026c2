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
    text: 'The fix is in the code. With the version that carries it, the item closes when that version is published.',
    icon: 'check',
    build: true,
  },
  closed: { label: 'Close', text: 'Shipped or verified: no work is left.', icon: 'lock' },
  needs_info: { label: 'Needs info', text: 'Waits for a person’s answer; agents do not get it.', icon: 'inbox' },
  wont_fix: {
    label: 'Won’t fix',
    text: 'Further occurrences are counted, but never open it again.',
    icon: 'close',
    reason: 'required',
    danger: true,
  },
  duplicate: {
    label: 'Duplicate',
    text: 'Further occurrences are counted at the other item.',
    icon: 'merge',
    duplicate: true,
    danger: true,
  },
};

const REOPEN_LABELS: Record<ItemStatus, string> = {
  open: '',
  in_progress: 'Take it back and open it',
  needs_info: 'Answered: open it',
  resolved: 'Reopen',
  closed: 'Reopen',
  wont_fix: 'Reopen',
  duplicate: 'Split off and open',
};

const REOPEN_TEXTS: Partial<Record<ItemStatus, string>> = {
  in_progress: 'Ends the lease. The agent’s token is worth nothing from then on.',
  resolved: 'Not fixed after all: it returns to the queue, and the version it was fixed in is forgotten.',
  closed: 'Not fixed after all: it returns to the queue, and the version it was fixed in is forgotten.',
  duplicate: 'An item of its own again: its grouping keys come back to it, and it returns to the queue.',
};

const MOVE_SHORTCUTS: Partial<Record<ItemStatus, string>> = { resolved: 'e', closed: 'c', open: 'u', needs_info: 'n' };

function findForm(from: ItemStatus, to: ItemStatus): MoveForm | null {
  if (to === 'in_progress') return null;
  if (to !== 'open') return MOVE_FORMS[to];
  return {
    label: REOPEN_LABELS[from],
    text: REOPEN_TEXTS[from] ?? 'It returns to the queue of the agents.',
    icon: 'refresh',
  };
}

/** @param leased an agent holds the item, so overriding the lease requires a reason */
export function listStatusMoves(from: ItemStatus, leased: boolean): StatusMove[] {
  return STATUSES.filter((to) => to !== from && isTransitionAllowed(from, to, 'patch')).flatMap((to) => {
    const form = findForm(from, to);
    if (form === null) return [];
    const { reason = 'optional', build = false, duplicate = false, danger = false, ...shown } = form;
    const shortcut = MOVE_SHORTCUTS[to] ?? null;
    return [{ ...shown, to, build, duplicate, danger, shortcut, reason: leased ? 'required' : reason }];
  });
}
