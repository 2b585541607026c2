/** Every agent loads all descriptions, so they do not repeat names (contract 95, MCP). */
import type { ToolSpec } from '../../../ports/http/index.js';
import { STATUSES } from '../item/transitions.js';
import { UNTRUSTED_ITEM_FIELDS } from '../item/api-views.js';
import { OCCURRENCE_FILTER_NAMES } from '../lists/occurrence-facets.js';
import {
  formatCommentPage,
  formatItemDetail,
  formatLinks,
  formatItemList,
  formatSplit,
  formatRejection,
  formatReport,
  formatClaim,
  formatWrite,
} from './tool-answers.js';

const untrustedFields: readonly string[] = [
  ...UNTRUSTED_ITEM_FIELDS,
  'host',
  'context',
  'breadcrumbs',
  'body',
  'note',
  'author',
  'actor',
  'agent',
  'changed',
  'file',
  'source',
  'locals',
  'place',
  'function',
  'callers',
  'latest_build',
  'code_url',
  'spread',
  'requester',
];

const descriptions: Record<string, string> = {
  agent: 'Your name, else the token’s',
  wait_seconds: 'For assignment, up to 25',
  client_ref: '',
  q: 'All words; quotes join them; or a ref',
  assignee: '',
  version: '',
  host: '',
  comment: '',
  type: '',
  fix_commit: '',
  pr_state: '',
  note: '',
  tokens: '',
  keep_status: 'No answer to `needs_info`',
};

const FILTER_PARAMETERS = [
  'project',
  'type',
  'severity',
  'regression',
  'environment',
  'exception_class',
  'target_agent',
  'assignee',
  'tag',
  'commit_sha',
  'file_path',
  'q',
];

const SEARCH_ONLY_PARAMETERS: ReadonlySet<string> = new Set([
  'commit_sha',
  'assignee',
  'environment',
  'exception_class',
  'regression',
]);

export const next: ToolSpec = {
  name: 'next',
  description:
    'Take the most urgent open item and reserve it for you. Start each piece of work with it. Returns where it failed, its newest occurrence, the lease and the `handover`; with `item` null, `waiting` says why.',
  only: [
    ...FILTER_PARAMETERS.filter((name) => !SEARCH_ONLY_PARAMETERS.has(name)),
    'agent',
    'lease_seconds',
    'wait_seconds',
  ],
  fixed: { action: 'next' },
  describe: { ...descriptions, q: '', lease_seconds: '60 to 14,400' },
  untrusted: untrustedFields,
  answer: formatClaim,
};

export const search: ToolSpec = {
  name: 'search',
  description:
    'Find items, to look one up or before you report. Values of one filter are alternatives. Returns short items, last seen first. `updated_since` (RFC 3339) finds what changed.',
  readOnly: true,
  only: [
    ...FILTER_PARAMETERS,
    'version',
    'host',
    'status',
    'muted',
    'claimed_by',
    'updated_since',
    'sort',
    'order',
    'limit',
    'cursor',
  ],
  defaults: { limit: 20 },
  describe: descriptions,
  untrusted: untrustedFields,
  textLimit: 300,
  answer: formatItemList,
};

export const get: ToolSpec = {
  name: 'get',
  description:
    'Read one item: newest occurrence, comments, links, last history. Use it for an item that you do not hold, or to compare `occurrences`.',
  readOnly: true,
  defaults: { occurrences: 1 },
  describe: { ...descriptions, occurrences: 'Number of occurrences; older ones show only differences' },
  untrusted: untrustedFields,
  answer: formatItemDetail,
};

export const similar: ToolSpec = {
  name: 'similar',
  description:
    'Find items like this one, by class, file or words, before you fix it or call it a duplicate. Returns short items.',
  readOnly: true,
  describe: descriptions,
  untrusted: untrustedFields,
  textLimit: 300,
  answer: formatItemList,
};

export const claim: ToolSpec = {
  name: 'claim',
  description:
    'Reserve a specific item that you found by search. Claiming yours again replaces its claim_token. Returns the lease.',
  describe: descriptions,
  untrusted: untrustedFields,
  answer: formatClaim,
};

export const renew: ToolSpec = {
  name: 'renew',
  description:
    'Extend your lease while you work, at half of its time. Send claim_token, progress in note. Returns the new end and `news`. On `lease_lost`, stop.',
  only: ['id', 'claim_token', 'lease_seconds', 'note', 'tokens'],
  describe: descriptions,
  untrusted: untrustedFields,
  answer: formatWrite,
  refusal: formatRejection,
};

export const release: ToolSpec = {
  name: 'release',
  description:
    'Release an item that you cannot finish. Send why as `reason` and what you found as `comment`. `next` offers it to others first.',
  only: ['id', 'claim_token', 'reason', 'comment'],
  describe: { ...descriptions, reason: '' },
  untrusted: untrustedFields,
  answer: formatWrite,
  refusal: formatRejection,
};

export const resolve: ToolSpec = {
  name: 'resolve',
  description:
    'Finish an item that is fixed in the code. Send the commit or pr_url, the version with the fix, and what you found as `comment`. Ends the lease; call again without claim_token to correct it.',
  only: ['id', 'claim_token', 'resolved_in_build', 'fix_commit', 'pr_url', 'comment'],
  fixed: { status: 'resolved' },
  describe: { ...descriptions, resolved_in_build: 'Its release closes the item' },
  untrusted: untrustedFields,
  answer: formatWrite,
  refusal: formatRejection,
};

/** Only a claim leads to `in_progress` (contract 20, transitions). */
const TARGET_STATUSES = STATUSES.filter((status) => status !== 'in_progress');

export const update: ToolSpec = {
  name: 'update',
  description:
    'Change an item under your lease. To ask, send status `needs_info` and a `comment`; `wont_fix` needs `reason`, `duplicate` needs duplicate_of; `open` reverts your resolve. Returns status and rev.',
  destructive: true,
  only: [
    'id',
    'claim_token',
    'status',
    'reason',
    'duplicate_of',
    'resolved_in_build',
    'title',
    'description',
    'severity',
    'tags',
    'target_agent',
    'assignee',
    'environment',
    'type',
    'fix_commit',
    'pr_url',
    'pr_state',
    'commit_sha',
    'file_path',
    'line_no',
    'push_id',
    'comment',
  ],
  choices: { status: TARGET_STATUSES },
  describe: { ...descriptions, resolved_in_build: '' },
  untrusted: untrustedFields,
  answer: formatWrite,
  refusal: formatRejection,
};

export const comment: ToolSpec = {
  name: 'comment',
  description:
    'Write a comment for users and other agents, on any item. Your claim_token renews the lease. Returns `news`.',
  describe: descriptions,
  untrusted: untrustedFields,
  answer: formatWrite,
  refusal: formatRejection,
};

export const link: ToolSpec = {
  name: 'link',
  description:
    'Link two items; `kind` is the relation of `id` to `ref`. Send blocked_by, with your claim_token, for what must be fixed first. Returns all links.',
  describe: descriptions,
  untrusted: untrustedFields,
  answer: formatLinks,
};

export const split: ToolSpec = {
  name: 'split',
  description:
    'Move a part of an item’s occurrences to a new item, when they are different bugs. Try `dry_run` first: it shows differences. Otherwise needs your lease.',
  only: ['id', 'occurrences', 'by', 'dry_run', 'claim_token'],
  describe: { occurrences: '', by: '', dry_run: '' },
  untrusted: [...untrustedFields, 'value', 'values', 'says'],
  answer: formatSplit,
};

export const report: ToolSpec = {
  name: 'report',
  description:
    'Report a bug, an error or a feature request that you found. Search first. Send your own client_ref, so that a repeat creates nothing. Returns its ref.',
  only: [
    'project',
    'title',
    'type',
    'description',
    'error_message',
    'exception_class',
    'stack_trace',
    'error_level',
    'severity',
    'environment',
    'app_version',
    'file_path',
    'line_no',
    'commit_sha',
    'target_agent',
    'tags',
    'client_ref',
  ],
  describe: descriptions,
  untrusted: untrustedFields,
  answer: formatReport,
};

export const occurrences: ToolSpec = {
  name: 'occurrences',
  description: 'Read stored occurrences whole, newest first, where the newest is not enough. Returns pages.',
  readOnly: true,
  only: ['id', ...OCCURRENCE_FILTER_NAMES, 'limit', 'cursor'],
  defaults: { limit: 5 },
  describe: descriptions,
  untrusted: untrustedFields,
};

export const comments: ToolSpec = {
  name: 'comments',
  description: 'Read all comments of an item, newest first. Returns pages.',
  readOnly: true,
  only: ['id', 'limit', 'cursor'],
  defaults: { limit: 20 },
  describe: descriptions,
  untrusted: untrustedFields,
  answer: formatCommentPage,
};
