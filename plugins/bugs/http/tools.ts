/**
 * The routes that coding agents use, as tools (contract 95, MCP): names and words for the model. The rules are the
 * routes'. Every agent pays for every word here at every start, so descriptions do not repeat what a name already says.
 */
import type { ToolSpec } from '../../../ports/http.js';
import { OUTSIDE } from '../item/view.js';
import { detail, listed, reported, taken, written } from './tool-answers.js';

/**
 * Beside an item's own `untrusted_fields`: members of occurrences, comments and history whose text came from outside.
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
];

const describe: Record<string, string> = {
  id: 'Id or ref (`shop-17`)',
  agent: 'Your name; default: the name of the token. The same token and name get their own lease back',
  lease_seconds: 'How long it is reserved, 60 to 14,400; default 1,800',
  claim_token: 'From the lease; needed while the item is claimed',
  resolved_in_build: 'Version that will carry the fix; its release closes the item',
  client_ref: 'Your own id for it: repeating the call creates nothing',
  q: 'Every word in title, message or class; a ref finds its item',
  cursor: '`next_cursor` of the page before',
  comment: 'Stored with the change; up to 16 KiB',
  assignee: 'Account of a person',
  target_agent: 'Only this agent is handed it',
  pr_url: 'Pull request, http or https',
};

const FILTERS = [
  'project',
  'type',
  'severity',
  'error_level',
  'regression',
  'environment',
  'exception_class',
  'target_agent',
  'assignee',
  'tag',
  'commit_sha',
  'file_path',
  'push_id',
  'q',
];

export const next: ToolSpec = {
  name: 'next',
  title: 'Take the next item',
  description:
    'Hands out the most urgent open item and reserves it for you in one step, with its newest occurrence; no two calls get the same. `item` is null when there is no work. Keep `lease.claim_token`. Filters narrow what you get. Needs bugtracker:manage.',
  only: [...FILTERS, 'agent', 'lease_seconds'],
  fixed: { action: 'next' },
  describe,
  untrusted,
  answer: taken,
};

export const search: ToolSpec = {
  name: 'search',
  title: 'Search items',
  description:
    'Bugs, errors and feature requests in short, last seen first; `get` reads one. Values of one filter are alternatives, filters are combined. `updated_since` (RFC 3339) asks what changed. Needs bugtracker:read.',
  readOnly: true,
  only: [
    ...FILTERS,
    'status',
    'muted',
    'claimed_by',
    'updated_since',
    'include_total',
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
  lines: ['ref', 'type', 'status', 'severity', 'hit_count', 'last_seen_at'],
  heading: 'title',
};

export const get: ToolSpec = {
  name: 'get',
  title: 'Read an item',
  description:
    'One item whole: its texts, newest occurrence, comments and last history entries. Needs bugtracker:read.',
  readOnly: true,
  defaults: { occurrences: 1 },
  describe: { ...describe, occurrences: 'How many; the newest is whole, of others what differs' },
  untrusted,
  answer: detail,
};

export const similar: ToolSpec = {
  name: 'similar',
  title: 'Find similar items',
  description:
    'Other items of its project with the same exception class or file, to find what is already known. Needs bugtracker:read.',
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
  description:
    'Reserves a certain item for you. `already_claimed` says who holds it. Claiming your own again gives a new claim_token and kills the old one. Needs bugtracker:manage.',
  describe,
  untrusted,
  answer: written,
};

export const renew: ToolSpec = {
  name: 'renew',
  title: 'Renew a lease',
  description:
    'Extends your lease from now; 24 hours in all. Call it at half of lease_seconds while you work. `lease_lost`: stop working on the item; `why` says how.',
  only: ['id', 'claim_token', 'lease_seconds'],
  describe,
  untrusted,
  answer: written,
};

export const release: ToolSpec = {
  name: 'release',
  title: 'Give an item back',
  description:
    'Ends your lease and opens the item for others; `next` does not hand it to you again for 24 hours. Say why.',
  only: ['id', 'claim_token', 'reason', 'comment'],
  describe,
  untrusted,
  answer: written,
};

export const resolve: ToolSpec = {
  name: 'resolve',
  title: 'Resolve an item',
  description:
    'Says that the item is fixed in the code, and ends your lease, which must be live. With `resolved_in_build` it closes when that version is published.',
  idempotent: true,
  only: ['id', 'claim_token', 'resolved_in_build', 'commit_sha', 'pr_url', 'push_id', 'comment'],
  fixed: { status: 'resolved' },
  describe,
  untrusted,
  answer: written,
};

export const update: ToolSpec = {
  name: 'update',
  title: 'Change an item',
  description:
    'Changes fields, only under your own live lease (`claim_required`). Status: `needs_info` (ask in `comment`), `wont_fix` (with reason), `duplicate` (with duplicate_of), `closed`, `open`. What you resolved you may correct (`resolved_in_build`, `pr_url`) or open again without. Needs bugtracker:manage.',
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
    'commit_sha',
    'pr_url',
    'file_path',
    'line_no',
    'push_id',
    'comment',
  ],
  describe,
  untrusted,
  answer: written,
};

export const comment: ToolSpec = {
  name: 'comment',
  title: 'Comment on an item',
  description:
    'With your claim_token it renews the lease. Needs bugtracker:manage, or bugtracker:report for items that the same token reported.',
  describe: { ...describe, body: 'Up to 16 KiB' },
  untrusted,
  answer: written,
};

export const report: ToolSpec = {
  name: 'report',
  title: 'Report a bug or a request',
  description:
    'Reports a bug, an error or a feature request. A known one is counted, not created again. Needs bugtracker:report.',
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
    'pr_url',
    'repo_url',
    'push_id',
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
  title: 'Occurrences of an item',
  description: 'The kept occurrences whole, newest first, page by page. Needs bugtracker:read.',
  readOnly: true,
  only: ['id', 'limit', 'cursor'],
  defaults: { limit: 5 },
  describe,
  untrusted,
};

export const comments: ToolSpec = {
  name: 'comments',
  title: 'Comments on an item',
  description: 'All comments, newest first, page by page. Needs bugtracker:read.',
  readOnly: true,
  only: ['id', 'limit', 'cursor'],
  defaults: { limit: 20 },
  describe,
  untrusted,
};
