/** What the routes of the bug tracker take (contract 20). Bodies are taken literally; unknown fields are dropped. */
import joi from 'joi';
import { SORTS } from '../lists/filters.js';
import { STATUSES } from '../items/transitions.js';

export const SEVERITY = ['critical', 'high', 'medium', 'low'];
export const LEVEL = ['fatal', 'error', 'warning'];
export const TYPE = ['bug', 'feature', 'error'];
/** An integer column and a JSON number both hold it. */
const MAX_LINE = 2_147_483_647;

const short = joi.string().max(200).allow(null, '');
const url = joi
  .string()
  .max(500)
  .uri({ scheme: ['http', 'https'] })
  .allow(null, '');
const path = joi.string().max(1024).allow(null, '');
export const long = joi.string().allow(null, '');
const filled = /\S/;
/** `max` counts UTF-16 units, the contract counts characters. */
const characters = (most: number): joi.StringSchema => {
  const fits = new RegExp(`^.{0,${most}}$`, 'su');
  return joi
    .string()
    .max(2 * most)
    .custom((value: string, helpers) => (fits.test(value) ? value : helpers.error('string.max', { limit: most })))
    .description(`At most ${most} characters`);
};
const title = characters(200).pattern(filled).message('must not be empty');
const tags = joi.array().items(joi.string().min(1).max(200)).max(32);
const line = joi.number().integer().min(0).max(MAX_LINE).allow(null);
const agent = joi.string().min(1).max(200);
const leaseSeconds = joi.number().integer().min(60).max(14_400);
const claimToken = joi.string().min(1).max(200);

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;
/** A time without an offset would be another moment on every machine. */
const since = joi
  .string()
  .pattern(RFC_3339)
  .message('must be an RFC 3339 timestamp, for example 2026-11-20T08:15:30.123Z');

export const context = {
  environment: short,
  repo_url: path,
  commit_sha: short,
  pr_url: url,
  file_path: path,
  line_no: line,
  push_id: short,
  target_agent: short,
  resolved_in_build: short,
};

export const reportBody = joi.object({
  project: joi.string().min(1).max(64).required(),
  title: title.required(),
  type: joi.string().valid(...TYPE),
  description: long,
  error_message: long,
  stack_trace: long,
  exception_class: short,
  error_level: joi
    .string()
    .valid(...LEVEL)
    .allow(null),
  severity: joi.string().valid(...SEVERITY),
  urgency: joi.string().valid(...SEVERITY),
  client_ref: characters(200).min(1).allow(null),
  tags: tags.allow(null),
  app_version: short,
  build: short,
  release: short,
  ...context,
});

/** Characters of a comment. */
const MOST_COMMENT = 16_384;
const comment = joi.string().max(MOST_COMMENT).pattern(filled).message('must not be empty');

export const editBody = joi.object({
  title,
  description: joi.string().max(65_536).allow(null, ''),
  status: joi.string().valid(...STATUSES),
  reason: joi.string().max(4096).allow(null, ''),
  duplicate_of: joi.string().max(100).allow(null),
  severity: joi.string().valid(...SEVERITY),
  urgency: joi.string().valid(...SEVERITY),
  severity_locked: joi.boolean(),
  tags,
  assignee: joi.string().max(200).allow(null, '').description('Name of an account; null: nobody'),
  comment: comment.allow(null).description('Stored with the change, up to 16 KiB'),
  claim_token: claimToken,
  force: joi.boolean(),
  ...context,
});

export const commentBody = joi.object({
  body: comment.required(),
  claim_token: claimToken,
});

export const claimBody = joi.object({ agent, lease_seconds: leaseSeconds });
export const renewBody = claimBody.keys({ claim_token: claimToken.required() });
export const releaseBody = joi.object({
  agent,
  claim_token: claimToken.required(),
  reason: joi.string().max(500).allow(null, '').description('Kept in the history'),
  comment: editBody.extract('comment'),
});

export const idParam = joi.object({ id: joi.string().max(100).required() });

const texts = (schema: joi.Schema = joi.string().max(1024)): joi.ArraySchema => joi.array().items(schema).max(50);

const filters = {
  project: texts(),
  type: texts(joi.string().valid(...TYPE)),
  status: texts(joi.string().valid(...STATUSES)),
  severity: texts(joi.string().valid(...SEVERITY)),
  error_level: texts(joi.string().valid(...LEVEL)),
  environment: texts(),
  exception_class: texts(),
  target_agent: texts(),
  tag: texts(),
  muted: texts(joi.boolean()),
  regression: texts(joi.boolean()),
  claimed_by: texts(),
  commit_sha: texts(),
  file_path: texts(),
  push_id: texts(),
  assignee: texts(),
  q: texts(joi.string().max(500).allow('')),
};

const paging = {
  limit: joi.number().integer().min(1).max(200),
  cursor: joi.string().max(20_000),
  include_total: joi.boolean(),
};

/** The filters of the list in a body: a value or an array of them. A field that it does not know would match too much. */
const filterBody = joi
  .object(Object.fromEntries(Object.entries(filters).map(([name, list]) => [name, list.single().min(1)])))
  .unknown(false)
  .description('The filters of GET /bugs: a value, or an array of alternatives');

export const bulkBody = joi
  .object({
    ids: joi.array().items(joi.string().min(1).max(100)).min(1).max(200).description('Ids or refs'),
    filter: filterBody,
    expected_count: joi
      .number()
      .integer()
      .min(0)
      .max(1000)
      .description('How many items the filter matches; required with it'),
    set: editBody.required().description('As with PATCH'),
    claim_tokens: joi
      .object()
      .pattern(joi.string().max(100), claimToken)
      .max(1000)
      .description('Id or ref → the claim token of its live lease'),
  })
  .xor('ids', 'filter');

export const mergeBody = joi.object({
  into: joi.string().min(1).max(100).required().description('Id or ref of the item that counts from now on'),
  reason: editBody.extract('reason'),
  claim_token: claimToken,
  force: joi.boolean(),
});
export const splitBody = joi.object({});

const sorting = {
  sort: joi.string().valid(...SORTS),
  order: joi.string().valid('asc', 'desc'),
};

/** A saved view: what a list may be asked for, from a form's text. */
export const savedView = joi.object({
  name: joi.string().trim().min(1).max(80).required(),
  shared: joi.boolean().default(false),
  query: filterBody.keys(sorting).required(),
});

export const pageQuery = joi.object(paging);
export const detailQuery = joi.object({
  occurrences: joi.number().integer().min(0).max(10).default(10).description('How many of the newest'),
});
export const similarQuery = joi.object({ limit: joi.number().integer().min(1).max(50).default(10) });

export const bugsQuery = joi.object({
  ...filters,
  ...paging,
  ...sorting,
  updated_since: since,
  action: joi.string().valid('next'),
  agent,
  lease_seconds: leaseSeconds,
});
