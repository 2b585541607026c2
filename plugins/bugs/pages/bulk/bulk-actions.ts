import type { ItemStatus, Severity } from '../../../../ports/domain/bugs.js';
import type { ItemEdit } from '../../item/edit.js';

export interface BulkAction {
  value: string;
  label: string;
  does: string;
  done: string;
  text: string;
  danger?: boolean;
  /** Needs no value and can be undone: no confirmation. */
  direct?: boolean;
  reason?: 'required' | 'optional';
  field?: 'resolved_in_build' | 'duplicate_of' | 'tags' | 'target_agent' | 'assignee';
  set: ItemEdit;
}

const buildStatusAction = (
  to: Exclude<ItemStatus, 'in_progress'>,
  label: string,
  does: string,
  done: string,
  text: string,
  more: Partial<BulkAction> = {},
): BulkAction => ({ value: `status:${to}`, label, does, done, text, reason: 'optional', set: { status: to }, ...more });

const STATUS_ACTIONS: readonly BulkAction[] = [
  buildStatusAction('resolved', 'Resolve', 'Resolve', 'resolved', 'Reopens if it happens again.', {
    direct: true,
  }),
  buildStatusAction('closed', 'Close', 'Close', 'closed', 'No work left.', {
    direct: true,
  }),
  buildStatusAction(
    'resolved',
    'Resolve in version…',
    'Resolve',
    'resolved',
    'Closes when the fixed version is published.',
    { value: 'resolved_in_build', field: 'resolved_in_build' },
  ),
  buildStatusAction(
    'needs_info',
    'Needs info…',
    'Mark as needs info',
    'marked as needs info',
    'Agents skip them until someone answers.',
  ),
  buildStatusAction('open', 'Reopen…', 'Reopen', 'reopened', 'Agents can pick them up.'),
  buildStatusAction(
    'wont_fix',
    'Won’t fix…',
    'Mark as won’t fix',
    'marked as won’t fix',
    'New events never reopen them.',
    {
      danger: true,
      reason: 'required',
    },
  ),
  buildStatusAction(
    'duplicate',
    'Duplicate of…',
    'Mark as duplicates',
    'marked as duplicates',
    'New events count on the other issue.',
    {
      danger: true,
      field: 'duplicate_of',
    },
  ),
];

const SEVERITY_ACTIONS: readonly BulkAction[] = (['critical', 'high', 'medium', 'low'] satisfies Severity[]).map(
  (severity) => ({
    value: `severity:${severity}`,
    label: severity.charAt(0).toUpperCase() + severity.slice(1),
    does: `Set severity to ${severity} for`,
    done: `set to ${severity}`,
    text: 'Locks the severity.',
    set: { severity },
  }),
);

const LABEL_ACTIONS: readonly BulkAction[] = [
  {
    value: 'assignee',
    label: 'Assign…',
    does: 'Assign',
    done: 'assigned',
    text: 'Leave empty to unassign.',
    field: 'assignee',
    set: {},
  },
  {
    value: 'tags',
    label: 'Set tags…',
    does: 'Set tags of',
    done: 'tagged',
    text: 'Replaces all tags.',
    field: 'tags',
    set: {},
  },
  {
    value: 'target_agent',
    label: 'Reserve for agent…',
    does: 'Reserve',
    done: 'reserved',
    text: 'Leave empty to allow any agent.',
    field: 'target_agent',
    set: {},
  },
];

export const ACTION_GROUPS: readonly { label: string; actions: readonly BulkAction[] }[] = [
  { label: 'Status', actions: STATUS_ACTIONS },
  { label: 'Severity', actions: SEVERITY_ACTIONS },
  { label: 'Labels', actions: LABEL_ACTIONS },
];

export const findBulkAction = (value: string): BulkAction | undefined =>
  ACTION_GROUPS.flatMap(({ actions }) => actions).find((action) => action.value === value);

export const parseTags = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  ),
];
