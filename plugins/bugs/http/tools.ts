/**
 * The routes that coding agents use, as tools (contract 95, MCP): names and words for the model. The rules are the
 * routes'. Every agent pays for every word here at every start, so descriptions do not repeat what a name already says.
 */
import type { ToolSpec } from '../../../ports/http.js';
import { STATUSES } from '../item/transitions.js';
import { OUTSIDE } from '../item/view.js';
import { WHERE } from '../lists/facets.js';
import { detail, linked, listed, parted, reported, taken, written } from './tool-answers.js';

/**
 * Members of occurrences, comments and history whose text came from outside, beside an item's own `untrusted_fields`.
 */
const untrusted: readonly string[] = [
  ...OUTSIDE,
  'host',
  'context',
  'breadcrumbs',
  'body',
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
];

/** What the arguments of tools mean, each said once: where a name says enough, nothing is said. */
const describe: Record<string, string> = {
  agent: 'Your name, else the token’s',
  wait_seconds: 'For work, up to 25',
  client_ref: 'Your id: a repeat creates nothing',
  q: 'All words; quotes join them; or a ref',
  assignee: '',
  version: '',
  host: '',
  comment: '',
  type: '',
  fix_commit: '',
  pr_state: '',
  keep_status: 'No answer to `needs_info`',
};

const FILTERS = [
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

/** Filters for looking things up; nobody takes work by these. */
const READERS: ReadonlySet<string> = new Set([
  'commit_sha',
  'assignee',
  'environment',
  'exception_class',
  'regression',
]);

export const next: ToolSpec = {
  name: 'next',
  title: 'Next item',
  description:
    'A lease on the most urgent open item: where it failed, its newest occurrence, what the last one left (`handover`). `item` null: no work, `waiting` says why.',
  only: [...FILTERS.filter((name) => !READERS.has(name)), 'agent', 'lease_seconds', 'wait_seconds'],
  fixed: { action: 'next' },
  describe: { ...describe, lease_seconds: '60 to 14,400' },
  untrusted,
  answer: taken,
};

export const search: ToolSpec = {
  name: 'search',
  title: 'Search items',
  description:
    'Items in short, last seen first. Filter values are alternatives. `updated_since` (RFC 3339): what changed. Needs bugtracker:read.',
  readOnly: true,
  only: [
    ...FILTERS,
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
  describe,
  untrusted,
  textLimit: 300,
  answer: listed,
  lines: ['ref', 'type', 'status', 'severity', 'hit_count', 'people', 'last_seen_at'],
  heading: 'title',
};

export const get: ToolSpec = {
  name: 'get',
  title: 'Read an item',
  description: 'One item: newest occurrence, comments, last history. Needs bugtracker:read.',
  readOnly: true,
  defaults: { occurrences: 1 },
  describe: { ...describe, occurrences: 'How many; of older ones what differs' },
  untrusted,
  answer: detail,
};

export const similar: ToolSpec = {
  name: 'similar',
  title: 'Find similar items',
  description: 'Alike by class, file or words. Needs bugtracker:read.',
  readOnly: true,
  describe,
  untrusted,
  textLimit: 300,
  answer: listed,
  lines: search.lines ?? [],
  heading: 'title',
};

export const claim: ToolSpec = {
  name: 'claim',
  title: 'Claim an item',
  description: 'A lease on a certain item. Claiming yours again replaces its claim_token.',
  describe,
  untrusted,
  answer: written,
};

export const renew: ToolSpec = {
  name: 'renew',
  title: 'Renew a lease',
  description: 'Extends your lease from now; 24 hours in all. `news`: what others wrote. `lease_lost`: stop.',
  only: ['id', 'claim_token', 'lease_seconds'],
  describe,
  untrusted,
  answer: written,
};

export const release: ToolSpec = {
  name: 'release',
  title: 'Give an item back',
  description: 'Ends your lease: others get it, you not for 24 hours. Say why.',
  only: ['id', 'claim_token', 'reason', 'comment'],
  describe: { ...describe, reason: '' },
  untrusted,
  answer: written,
};

export const resolve: ToolSpec = {
  name: 'resolve',
  title: 'Resolve an item',
  description:
    'It is fixed in the code; ends your live lease. Until it closes call it again, without claim_token, to correct build, commit or pull request.',
  idempotent: true,
  only: ['id', 'claim_token', 'resolved_in_build', 'fix_commit', 'pr_url', 'comment'],
  fixed: { status: 'resolved' },
  describe: { ...describe, resolved_in_build: 'Version with the fix; its release closes the item' },
  untrusted,
  answer: written,
};

/** Only a claim leads to `in_progress` (contract 20, transitions). */
const MOVES = STATUSES.filter((status) => status !== 'in_progress');

export const update: ToolSpec = {
  name: 'update',
  title: 'Change an item',
  description:
    'Only under your own live lease. `needs_info`: ask in `comment`; `wont_fix` wants reason, `duplicate` duplicate_of; `open` also takes back what you resolved.',
  destructive: true,
  idempotent: true,
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
  choices: { status: MOVES },
  describe: { ...describe, resolved_in_build: '' },
  untrusted,
  answer: written,
};

export const comment: ToolSpec = {
  name: 'comment',
  title: 'Comment on an item',
  description: 'Your claim_token renews the lease.',
  describe: describe,
  untrusted,
  answer: written,
};

export const link: ToolSpec = {
  name: 'link',
  title: 'Link items',
  description:
    '`kind`: what the item `id` is to `ref`. `next` skips what an unfinished item blocks. A block needs the lease of the blocked item.',
  idempotent: true,
  describe,
  untrusted,
  answer: linked,
};

export const split: ToolSpec = {
  name: 'split',
  title: 'Split an item',
  description:
    'A part of its occurrences, later ones too, becomes an item. `dry_run`: what differs, what would go where. Else under your lease.',
  only: ['id', 'occurrences', 'by', 'dry_run', 'claim_token'],
  describe: { occurrences: '', by: '', dry_run: '' },
  untrusted: [...untrusted, 'value', 'values', 'says'],
  answer: parted,
};

export const report: ToolSpec = {
  name: 'report',
  title: 'Report a problem',
  description: 'A bug, error or feature request. A known one is counted. Needs bugtracker:report.',
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
  describe,
  untrusted,
  answer: reported,
};

export const occurrences: ToolSpec = {
  name: 'occurrences',
  title: 'Occurrences',
  description: 'Kept occurrences whole, newest first. Needs bugtracker:read.',
  readOnly: true,
  only: ['id', ...WHERE, 'limit', 'cursor'],
  defaults: { limit: 5 },
  describe,
  untrusted,
};

export const comments: ToolSpec = {
  name: 'comments',
  title: 'Comments',
  description: 'All, newest first. Needs bugtracker:read.',
  readOnly: true,
  only: ['id', 'limit', 'cursor'],
  defaults: { limit: 20 },
  describe,
  untrusted,
};
