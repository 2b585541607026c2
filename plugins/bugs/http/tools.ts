/**
 * The routes that coding agents use, as tools (contract 95, MCP): names and words for the model. The rules are the routes'.
 * Every word here is paid for by each agent at each start, so what a name says by itself is not said again.
 */
import type { ToolSpec } from '../../../ports/http.js';
import { OUTSIDE } from '../items/view.js';
import { detail, listed, reported, taken, written } from './tool-answers.js';

/** Beside an item's own `untrusted_fields`: members of occurrences, comments and history whose text came from outside. */
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
  agent: 'Your name, if several agents share the token',
  lease_seconds: '60 to 14,400; default 1,800',
  claim_token: 'From the lease',
  resolved_in_build: 'Version that will carry the fix; its release closes the item',
  client_ref: 'Your own id for it: repeating the call creates nothing',
  q: 'Every word in title, message or class; a ref finds its item',
  cursor: '`next_cursor` of the page before',
  comment: 'Stored with the change',
};

const FILTERS = ['project', 'type', 'severity', 'environment', 'exception_class', 'tag', 'q'];

export const next: ToolSpec = {
  name: 'next',
  title: 'Take the next item',
  description:
    'Reserves the most urgent open item for you, with its newest occurrence. `item: null`: no work. Scope manage.',
  only: [...FILTERS, 'agent', 'lease_seconds'],
  fixed: { action: 'next' },
  describe,
  untrusted,
  answer: taken,
};

export const search: ToolSpec = {
  name: 'search',
  title: 'Search items',
  description: 'Items in short, last seen first. Filters are combined, values of one are alternatives. Scope read.',
  readOnly: true,
  only: [
    ...FILTERS,
    'status',
    'error_level',
    'muted',
    'regression',
    'claimed_by',
    'target_agent',
    'assignee',
    'commit_sha',
    'file_path',
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
  lines: ['ref', 'type', 'status', 'severity', 'hit_count', 'last_seen_at'],
};

export const get: ToolSpec = {
  name: 'get',
  title: 'Read an item',
  description: 'All of an item, its newest occurrences, comments and history. Scope read.',
  readOnly: true,
  defaults: { occurrences: 1 },
  describe: { ...describe, occurrences: 'How many; the newest is whole, of others what differs' },
  untrusted,
  answer: detail,
};

export const similar: ToolSpec = {
  name: 'similar',
  title: 'Find similar items',
  description: 'Items of the same project and class or file. Scope read.',
  readOnly: true,
  describe,
  untrusted,
  textLimit: 300,
  answer: listed,
  lines: search.lines ?? [],
};

export const claim: ToolSpec = {
  name: 'claim',
  title: 'Claim an item',
  description: 'Reserves this item for you. Your own again: a new claim_token, the old one is dead. Scope manage.',
  describe,
  untrusted,
  answer: written,
};

export const renew: ToolSpec = {
  name: 'renew',
  title: 'Renew a lease',
  description: 'Extends your lease from now, 24 h in all. `lease_lost`: stop working on the item.',
  only: ['id', 'claim_token', 'lease_seconds'],
  describe,
  untrusted,
  answer: written,
};

export const release: ToolSpec = {
  name: 'release',
  title: 'Give an item back',
  description: 'Ends your lease. `next` does not hand it to you again for 24 h.',
  only: ['id', 'claim_token', 'reason', 'comment'],
  describe,
  untrusted,
  answer: written,
};

export const resolve: ToolSpec = {
  name: 'resolve',
  title: 'Resolve an item',
  description: 'Fixed in the code; ends your lease. Needs your live lease.',
  idempotent: true,
  only: ['id', 'claim_token', 'resolved_in_build', 'commit_sha', 'pr_url', 'comment'],
  fixed: { status: 'resolved' },
  describe,
  untrusted,
  answer: written,
};

export const update: ToolSpec = {
  name: 'update',
  title: 'Change an item',
  description:
    'Changes fields. A status only under your live lease: `needs_info` (ask in `comment`), `wont_fix` (with reason), `duplicate` (with duplicate_of), `closed`, `open`. Scope manage.',
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
  description: 'With your claim_token it renews the lease. Scope manage, or report for items that you reported.',
  describe: { ...describe, body: 'Up to 16 KiB' },
  untrusted,
  answer: written,
};

export const report: ToolSpec = {
  name: 'report',
  title: 'Report a bug or a request',
  description: 'A known error is counted, not created again. Scope report.',
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
  description: 'The kept ones, newest first, whole. Scope read.',
  readOnly: true,
  only: ['id', 'limit', 'cursor'],
  defaults: { limit: 5 },
  describe,
  untrusted,
};

export const comments: ToolSpec = {
  name: 'comments',
  title: 'Comments on an item',
  description: 'All, newest first. Scope read.',
  readOnly: true,
  only: ['id', 'limit', 'cursor'],
  defaults: { limit: 20 },
  describe,
  untrusted,
};
