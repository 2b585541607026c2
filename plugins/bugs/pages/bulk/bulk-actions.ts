import type { ItemStatus, Severity } from '../../../../ports/domain/bugs.js';
import type { ItemEdit } from '../../item/edit.js';

export interface BulkAction {
  value: string;
  label: string;
  does: string;
  done: string;
  text: string;
  danger?: boolean;
  /** Needs no value and can be undone, so it runs on selected items without confirmation. */
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
  buildStatusAction('resolved', 'Resolve', 'Resolve', 'resolved', 'Each opens again when it happens again.', {
    direct: true,
  }),
  buildStatusAction('closed', 'Close', 'Close', 'closed', 'Nobody has to do anything about them any more.', {
    direct: true,
  }),
  buildStatusAction(
    'resolved',
    'Resolve in a version…',
    'Resolve',
    'resolved',
    'With the version that carries the fix, each closes when that version is published.',
    { value: 'resolved_in_build', field: 'resolved_in_build' },
  ),
  buildStatusAction(
    'needs_info',
    'Needs info…',
    'Set aside',
    'waiting for info',
    'Agents leave them alone until a person answers.',
  ),
  buildStatusAction('open', 'Open again…', 'Open again', 'open', 'They return to the queue of the agents.'),
  buildStatusAction(
    'wont_fix',
    'Won’t fix…',
    'Decline',
    'won’t fix',
    'Further occurrences are counted, but never open them again.',
    {
      danger: true,
      reason: 'required',
    },
  ),
  buildStatusAction(
    'duplicate',
    'Duplicate of…',
    'Mark as duplicates',
    'duplicates',
    'Further occurrences are counted at the other item.',
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
    does: `Set severity ${severity} on`,
    done: severity,
    text: 'The severity is locked: the service no longer raises it.',
    set: { severity },
  }),
);

const LABEL_ACTIONS: readonly BulkAction[] = [
  {
    value: 'assignee',
    label: 'Assign…',
    does: 'Assign',
    done: 'assigned',
    text: 'The person below has them from now on. Leave the field empty to take them from whoever has them.',
    field: 'assignee',
    set: {},
  },
  {
    value: 'tags',
    label: 'Set tags…',
    does: 'Set the tags of',
    done: 'tagged',
    text: 'The tags below replace all tags of each item. Leave the field empty to remove all tags.',
    field: 'tags',
    set: {},
  },
  {
    value: 'target_agent',
    label: 'Keep for agent…',
    does: 'Change the agent of',
    done: 'reassigned',
    text: 'Only an agent of this name gets them. Without a name every agent can.',
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
