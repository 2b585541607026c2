/** Bodies are not coerced; unknown fields are dropped (contract 20). */
import joi from 'joi';
import { withSchemaName, withJsonSchema, hideFromOpenApi } from '../../../kernel/contract/index.js';
import { OCCURRENCE_FILTER_NAMES } from '../lists/occurrence-facets.js';
import { MAX_COMMENT_LENGTH } from '../item/model.js';
import {
  errorLevelSchema,
  filterBodySchema,
  itemStatusSchema,
  itemTypeSchema,
  namedFilterSchemas,
  severitySchema,
  sortSchemas,
} from '../lists/query-schema.js';

const MAX_LINE_NUMBER = 2_147_483_647;

const short = joi.string().max(200).allow(null, '');
const url = joi
  .string()
  .max(500)
  .uri({ scheme: ['http', 'https'] })
  .allow(null, '');
const path = joi.string().max(1024).allow(null, '');
export const longText = joi.string().allow(null, '');
const filled = /\S/;
/** `max` counts UTF-16 units, not characters. */
const limitCharacters = (most: number): joi.StringSchema => {
  const fits = new RegExp(`^.{0,${most}}$`, 'su');
  return withJsonSchema(
    { maxLength: most },
    joi
      .string()
      .max(2 * most)
      .custom((value: string, helpers) => (fits.test(value) ? value : helpers.error('string.max', { limit: most }))),
  );
};
/** In UTF-8 bytes. */
const limitBytes = (most: number): joi.StringSchema => {
  const large = { custom: `must be at most ${most} bytes of UTF-8` };
  const fits = (value: string): boolean => Buffer.byteLength(value) <= most;
  const schema = joi.string().max(most);
  return schema.custom((value: string, helpers) => (fits(value) ? value : helpers.message(large)));
};
const title = limitCharacters(200).pattern(filled).message('must not be empty');
const tags = joi.array().items(joi.string().min(1).max(200)).max(32);
const line = joi.number().integer().min(0).max(MAX_LINE_NUMBER).allow(null);
const agent = joi.string().min(1).max(200).pattern(filled).message('must not be empty');
const leaseSeconds = joi.number().integer().min(60).max(14_400);
const waitSeconds = joi.number().integer().min(0).max(25);
export const claimToken = joi.string().min(1).max(200);

const RFC_3339 = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;
/** Without an offset, it would depend on the machine's time zone. */
const since = withJsonSchema(
  { format: 'date-time' },
  joi.string().pattern(RFC_3339).message('must be an RFC 3339 timestamp, for example 2026-11-20T08:15:30.123Z'),
);

export const contextFields = {
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

export const pullRequestState = joi.string().valid('draft', 'open', 'merged', 'closed');

export const reportBody = withSchemaName(
  'BugReport',
  joi
    .object({
      project: joi.string().min(1).max(64).required(),
      title: title.required(),
      type: itemTypeSchema,
      description: longText,
      error_message: longText,
      stack_trace: longText,
      exception_class: short,
      error_level: errorLevelSchema.allow(null),
      severity: severitySchema,
      urgency: severitySchema,
      client_ref: limitCharacters(200).min(1).allow(null),
      tags: tags.allow(null),
      app_version: short,
      build: short,
      release: short,
      ...contextFields,
    })
    .example({
      project: 'shop',
      title: 'The cart loses its items after the login',
      type: 'bug',
      severity: 'high',
      description: 'Put something into the cart, log in: the cart is empty.',
      file_path: 'src/cart.ts',
      line_no: 42,
      client_ref: 'TICKET-1',
      tags: ['checkout'],
    }),
);

const comment = limitBytes(MAX_COMMENT_LENGTH).pattern(filled).message('must not be empty');

export const editBody = withSchemaName(
  'ItemChange',
  joi
    .object({
      title,
      description: joi.string().max(65_536).allow(null, ''),
      status: itemStatusSchema,
      reason: joi.string().max(4096).allow(null, ''),
      duplicate_of: joi.string().max(100).allow(null),
      severity: severitySchema,
      urgency: severitySchema,
      severity_locked: joi.boolean(),
      tags,
      assignee: joi.string().max(200).allow(null, '').description('Account; null for unassigned'),
      comment: comment.allow(null).description('Stored with the change, up to 16 KiB'),
      claim_token: claimToken,
      force: joi.boolean(),
      fix_commit: short,
      pr_state: pullRequestState.description('State of `pr_url`, if no forge reports it'),
      ...contextFields,
      type: joi.string().valid('bug', 'feature'),
      hold: joi.boolean().description('Puts the item on hold by a person, with `reason`; a program must send `force`'),
    })
    .example({ status: 'resolved', resolved_in_build: '1.4.2', claim_token: 'from the lease' }),
);

export const commentBody = withSchemaName(
  'CommentCreation',
  joi
    .object({
      body: comment.required(),
      claim_token: claimToken,
      keep_status: joi.boolean().description('An item that needs information keeps this status'),
    })
    .example({ body: 'Fixed in the branch `cart`; the release follows.' }),
);

export const claimBody = withSchemaName(
  'ClaimRequest',
  joi.object({ agent, lease_seconds: leaseSeconds }).example({ agent: 'fixer-1', lease_seconds: 1800 }),
);
export const nextBody = withSchemaName('NextRequest', claimBody.keys({ wait_seconds: waitSeconds }));
export const renewBody = withSchemaName(
  'RenewRequest',
  joi.object({
    agent,
    lease_seconds: leaseSeconds,
    claim_token: claimToken.required(),
    note: joi
      .string()
      .trim()
      .max(500)
      .allow(null, '')
      .description('Your current step: one line, shown live on the item’s page'),
    tokens: joi.number().integer().min(0).max(1e12).allow(null).description('Total language model tokens so far'),
  }),
);
export const releaseBody = withSchemaName(
  'ReleaseRequest',
  joi.object({
    agent,
    claim_token: claimToken.required(),
    reason: joi.string().max(500).allow(null, '').description('Stored in the history'),
    comment: editBody.extract('comment'),
  }),
);

export const statsQuery = joi.object({ project: joi.string().max(64) });

export const idParam = joi.object({ id: joi.string().max(100).required() });

const paging = {
  limit: withJsonSchema({ default: 50 }, joi.number().integer().min(1).max(200)),
  cursor: joi.string().max(20_000),
  include_total: joi.boolean(),
};

export const bulkBody = withSchemaName(
  'BulkChange',
  joi
    .object({
      ids: joi.array().items(joi.string().min(1).max(100)).min(1).max(200).description('Ids or refs'),
      filter: filterBodySchema,
      expected_count: joi
        .number()
        .integer()
        .min(0)
        .max(1000)
        .description('Number of items the filter matches; required with it'),
      set: editBody.required().description('As with PATCH'),
      claim_tokens: joi
        .object()
        .pattern(joi.string().max(100), claimToken)
        .max(1000)
        .description('Id or ref → the claim token of its live lease'),
    })
    .xor('ids', 'filter')
    .description('Either `ids` or `filter`')
    .example({ ids: ['shop-17', 'shop-18'], set: { status: 'closed' } }),
);

export const mergeBody = withSchemaName(
  'MergeRequest',
  joi.object({
    into: joi.string().min(1).max(100).required().description('Id or ref of the item to merge into'),
    reason: editBody.extract('reason'),
    claim_token: claimToken,
    force: joi.boolean(),
  }),
);
/** Clients without a DELETE body use the query. */
const removal = {
  reason: editBody.extract('reason'),
  claim_token: claimToken,
  force: joi.boolean(),
};
export const removalQuery = joi.object(removal);
export const removalBody = withSchemaName('RemovalRequest', joi.object(removal));
export const pageQuery = joi.object(paging);
const among = joi.array().items(joi.string().min(1).max(200)).max(20);
export const occurrencesQuery = pageQuery.keys(
  Object.fromEntries(OCCURRENCE_FILTER_NAMES.map((name) => [name, among])),
);
export const detailQuery = joi.object({
  occurrences: joi.number().integer().min(0).max(10).default(10).description('Number of the newest ones'),
});
export const similarQuery = joi.object({ limit: joi.number().integer().min(1).max(50).default(10) });

const nextFields = { agent, lease_seconds: leaseSeconds, wait_seconds: waitSeconds };
export const bugsQuery = joi.object({
  ...namedFilterSchemas,
  ...paging,
  ...sortSchemas,
  updated_since: since,
  // Documented at POST, which has a single response type.
  action: hideFromOpenApi(joi.string().valid('next')),
  agent: hideFromOpenApi(agent),
  lease_seconds: hideFromOpenApi(leaseSeconds),
  wait_seconds: hideFromOpenApi(waitSeconds),
});
export const nextQuery = joi.object({
  ...namedFilterSchemas,
  action: joi.string().valid('next').required().description('Fetches and reserves one item'),
  ...nextFields,
});
