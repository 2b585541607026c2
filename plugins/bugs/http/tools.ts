/** The routes that coding agents use, as tools (contract 95, MCP): names and words for the model. The rules are the routes'. */
import type { ToolSpec } from '../../../ports/http.js';
import { OUTSIDE } from '../items/view.js';

/** Beside an item's own `untrusted_fields`: members of occurrences, comments and history that somebody outside wrote. */
const untrusted: readonly string[] = [...OUTSIDE, 'reason', 'muted_reason', 'host', 'context', 'breadcrumbs', 'body'];

const describe: Record<string, string> = {
  id: 'Id or ref (`shop-17`) of the item',
  agent: 'Your name; default: the name of the token. The same token and name get their own lease back',
  lease_seconds: 'How long the item is reserved, 60 to 14,400; default 1,800',
  claim_token: 'From the lease; needed while the item is claimed',
  project: 'Slug of the project',
  resolved_in_build: 'Version or build that will carry the fix; its publication closes the item',
  client_ref: 'An id of your own: a repeated call with it creates and counts nothing',
  reason: 'Why; needed for `wont_fix`',
  duplicate_of: 'Id or ref of the other item; needed for `duplicate`',
  q: 'Part of a title, message or exception class',
  cursor: '`next_cursor` of the page before',
  body: 'The comment, up to 16 KiB',
};

const LIST_ONLY = ['limit', 'cursor', 'include_total', 'sort', 'order', 'updated_since'];
const NEXT_ONLY = ['action', 'agent', 'lease_seconds'];

export const next: ToolSpec = {
  name: 'next',
  title: 'Take the next item',
  description:
    'Hands out the most urgent open item and reserves it for you in one step; no two calls ever get the same. `item` is null when there is no work. Keep `lease.claim_token`. Filters narrow what you get. Needs bugtracker:manage.',
  omit: LIST_ONLY,
  fixed: { action: 'next' },
  describe,
  untrusted,
};

export const search: ToolSpec = {
  name: 'search',
  title: 'Search items',
  description:
    'Lists bugs, errors and feature requests, last seen first, with the beginning of their texts (see `get`). Values of one filter are alternatives, filters are combined. `updated_since` asks what changed. Needs bugtracker:read.',
  readOnly: true,
  omit: NEXT_ONLY,
  defaults: { limit: 20 },
  describe,
  untrusted,
  textLimit: 300,
};

export const get: ToolSpec = {
  name: 'get',
  title: 'Read an item',
  description:
    'One item whole, with its last ten occurrences (stack trace, context, breadcrumbs), comments and history entries. Needs bugtracker:read.',
  readOnly: true,
  describe,
  untrusted,
};

export const claim: ToolSpec = {
  name: 'claim',
  title: 'Claim an item',
  description:
    'Reserves a certain item for you. `already_claimed` tells who holds it. Claiming your own item again gives a new claim_token and kills the old one. Needs bugtracker:manage.',
  describe,
  untrusted,
};

export const renew: ToolSpec = {
  name: 'renew',
  title: 'Renew a lease',
  description:
    'Extends your lease from now; 24 hours in all. Call it at half of lease_seconds while you work. `lease_lost`: stop working on the item. Needs bugtracker:manage.',
  describe,
  untrusted,
};

export const release: ToolSpec = {
  name: 'release',
  title: 'Give an item back',
  description: 'Ends your lease and opens the item for others. Needs bugtracker:manage.',
  describe,
  untrusted,
};

export const resolve: ToolSpec = {
  name: 'resolve',
  title: 'Resolve an item',
  description:
    'Says that the item is fixed in the code, and ends your lease. With `resolved_in_build` it closes when that version is published. Needs bugtracker:manage.',
  idempotent: true,
  only: ['id', 'claim_token', 'resolved_in_build', 'commit_sha', 'push_id', 'reason'],
  fixed: { status: 'resolved' },
  describe: { ...describe, reason: 'What was wrong, in a sentence' },
  untrusted,
};

export const update: ToolSpec = {
  name: 'update',
  title: 'Change an item',
  description:
    'Changes fields or the status: `needs_info` (comment what you need to know), `wont_fix` (with reason), `duplicate` (with duplicate_of), `closed`, `open`. Needs bugtracker:manage.',
  destructive: true,
  idempotent: true,
  omit: ['force', 'urgency', 'severity_locked', 'repo_url'],
  describe,
  untrusted,
};

export const comment: ToolSpec = {
  name: 'comment',
  title: 'Comment on an item',
  description:
    'Adds a comment; with your claim_token it renews the lease. Needs bugtracker:manage, or bugtracker:report for items that the same token reported.',
  describe,
  untrusted,
};

export const report: ToolSpec = {
  name: 'report',
  title: 'Report a bug or a request',
  description:
    'Reports a bug, an error or a feature request. A known error is counted where it is instead of being created twice. Needs bugtracker:report.',
  omit: ['urgency', 'build', 'release'],
  describe,
  untrusted,
};

export const occurrences: ToolSpec = {
  name: 'occurrences',
  title: 'Occurrences of an item',
  description: 'The kept occurrences, newest first, page by page. Needs bugtracker:read.',
  readOnly: true,
  defaults: { limit: 5 },
  describe,
  untrusted,
};

export const comments: ToolSpec = {
  name: 'comments',
  title: 'Comments on an item',
  description: 'All comments, newest first, page by page. Needs bugtracker:read.',
  readOnly: true,
  defaults: { limit: 20 },
  describe,
  untrusted,
};
