import { created, type HttpRequest, type RouteSpec } from '../../../kernel/contract/index.js';
import { Reply } from '../../../ports/http/index.js';
import type { Json } from '../../../ports/store/index.js';
import type { BulkRequest } from '../editing/bulk-edits.js';
import { getRequestCaller } from '../caller.js';
import { cleanJson } from '../text/clean-report.js';
import type { ItemEdit } from '../item/edit.js';
import type { RemovalOptions } from '../editing/removal.js';
import type { ReleaseRequest, RenewalRequest } from '../claims/leases.js';
import type { NewComment } from '../editing/comments.js';
import type { MergeOptions } from '../editing/merging.js';
import { BASE_PATH, getIdParam, MANAGE_SCOPE, REPORT_SCOPE } from './paths.js';
import { buildLinkRoutes } from './routes-links.js';
import * as schemas from './schemas.js';
import { buildSplitRoute } from './split-route.js';
import * as shapes from './schemas-output.js';
import type { BugServices } from '../services.js';
import * as tools from './tools.js';

const params = schemas.idParam;
const IF_MATCH = { 'If-Match': '`"<rev>"`: only if the item still has this revision' };
const LEASE_ERRORS = ['already_claimed', 'lease_lost', 'conflict'];
const getCleanBody = (request: HttpRequest): unknown => cleanJson(request.body as Json);

export const buildEditRoutes = (services: BugServices): RouteSpec[] => [
  buildEditRoute(services),
  buildRemovalRoute(services),
  buildBulkRoute(services),
  buildMergeRoute(services),
  buildSplitRoute(services),
  buildCommentRoute(services),
  ...buildLinkRoutes(services),
  ...buildLeaseRoutes(services),
];

const buildEditRoute = ({ edits }: BugServices): RouteSpec => ({
  method: 'PATCH',
  path: `${BASE_PATH}/bugs/{id}`,
  operationId: 'changeItem',
  summary: 'Change an item',
  tool: [tools.resolve, tools.update],
  description:
    '`If-Match: "<rev>"` is optional. Under a live lease the current `claim_token` is required, or `force` with a `reason`. A ' +
    '`comment` is stored atomically with the change. `type` can change between bug and feature, but not from or to error. `fix_commit` is ' +
    'the commit that fixes it, `commit_sha` the one that failed.',
  access: { scope: MANAGE_SCOPE },
  input: { params, body: schemas.editBody, headers: IF_MATCH },
  output: shapes.editedOutput,
  errors: [
    ...LEASE_ERRORS,
    'claim_required',
    'unread_news',
    'invalid_transition',
    'precondition_failed',
    'reason_required',
  ],
  handle: (request) =>
    edits.editWithDetails(
      getIdParam(request),
      getRequestCaller(request),
      getCleanBody(request) as ItemEdit,
      request.headers['if-match'],
    ),
});

const buildRemovalRoute = ({ removal }: BugServices): RouteSpec => ({
  method: 'DELETE',
  path: `${BASE_PATH}/bugs/{id}`,
  operationId: 'deleteItem',
  summary: 'Delete an item permanently',
  description:
    'Removes the item with its texts, occurrences, comments, history, grouping keys and references; the next such report creates ' +
    'a new item. Under a live lease the current `claim_token` is required, or `force` with a `reason`, in the body or the query. ' +
    '409 `conflict` while other items are duplicates of it.',
  access: { scope: MANAGE_SCOPE },
  input: { params, query: schemas.removalQuery, body: schemas.removalBody, optionalBody: true },
  output: shapes.deletedOutput,
  errors: [...LEASE_ERRORS, 'reason_required'],
  handle: async (request) => {
    const options = { ...(request.query as RemovalOptions), ...(getCleanBody(request) as RemovalOptions | null) };
    await removal.remove(getIdParam(request), request.principal, options);
    return { deleted: true };
  },
});

const ITEMS_PER_COST_UNIT = 100;

function computeCost(body: unknown): number {
  const { ids, expected_count: count } = (body ?? {}) as { ids?: unknown; expected_count?: unknown };
  const items = Array.isArray(ids) ? ids.length : typeof count === 'number' ? count : 1;
  return Math.max(1, Math.ceil(items / ITEMS_PER_COST_UNIT));
}

const buildBulkRoute = ({ bulk: service }: BugServices): RouteSpec => ({
  method: 'POST',
  path: `${BASE_PATH}/bugs/bulk`,
  operationId: 'changeItems',
  summary: 'Change many items in one request',
  description:
    'Either `ids` (ids or refs, at most 200) or a `filter` with `expected_count` (at most 1,000 items). `set` accepts what PATCH ' +
    'accepts, and each item succeeds or fails separately: 200 when all succeed, 207 when some fail, 404 when every id is ' +
    'unknown. A wrong `expected_count` is 409 `conflict` with `error.count`, and nothing is changed; the ids are determined with the ' +
    'count, and an item that no longer matches when it is processed is a failed result. An item under a live lease requires its token ' +
    'in `claim_tokens` (or `set.claim_token`), or `set.force` with `set.reason`. Repeated ids count once.',
  access: { scope: MANAGE_SCOPE },
  input: { body: schemas.bulkBody },
  status: [200, 207],
  output: shapes.bulkOutput,
  errors: ['conflict', 'not_found'],
  limits: { rate: 'bulk', cost: computeCost },
  handle: async (request) => {
    const answer = await service.applyEdit(getCleanBody(request) as BulkRequest, getRequestCaller(request));
    return new Reply(answer.updated === answer.results.length ? 200 : 207, answer);
  },
});

const buildMergeRoute = ({ merging }: BugServices): RouteSpec => ({
  method: 'POST',
  path: `${BASE_PATH}/bugs/{id}/merge`,
  operationId: 'mergeItem',
  summary: 'Merge an item into another one',
  description:
    'The item becomes a `duplicate` of `into`, and new reports of its grouping keys are counted there. Counts are not ' +
    'added up. `split` reverts it. Under a live lease as with PATCH: `claim_token`, or `force` with `reason`.',
  access: { scope: MANAGE_SCOPE },
  input: { params, body: schemas.mergeBody, headers: IF_MATCH },
  output: shapes.itemOutput,
  errors: [...LEASE_ERRORS, 'invalid_transition', 'precondition_failed', 'reason_required'],
  handle: async (request) => {
    const { into, ...options } = getCleanBody(request) as MergeOptions & { into: string };
    const if_match = request.headers['if-match'];
    return {
      item: await merging.merge(getIdParam(request), into, getRequestCaller(request), { ...options, if_match }),
    };
  },
});

const buildCommentRoute = ({ comments }: BugServices): RouteSpec => ({
  method: 'POST',
  path: `${BASE_PATH}/bugs/{id}/comments`,
  operationId: 'commentItem',
  summary: 'Comment on an item',
  tool: tools.comment,
  description:
    'With only bugtracker:report, limited to items that the same token created. On an item that is `needs_info` the comment of a ' +
    'person, or of the token that created it, counts as the answer and opens it, unless `keep_status` is set.',
  access: { anyScope: [MANAGE_SCOPE, REPORT_SCOPE] },
  input: { params, body: schemas.commentBody },
  status: 201,
  output: shapes.commentOutput,
  errors: ['lease_lost'],
  handle: async (request) => {
    return created(
      await comments.add(getIdParam(request), getRequestCaller(request), getCleanBody(request) as NewComment),
    );
  },
});

function buildLeaseRoutes({ leases: service, lists }: BugServices): RouteSpec[] {
  const shared = { method: 'POST', access: { scope: MANAGE_SCOPE } } as const;
  return [
    {
      ...shared,
      path: `${BASE_PATH}/bugs/{id}/claim`,
      operationId: 'claimItem',
      errors: ['already_claimed', 'on_hold', 'too_many_claims', 'invalid_transition', 'lease_limit'],
      summary: 'Claim an item',
      tool: tools.claim,
      description:
        'The same credential and agent get their lease back with a new `claim_token`; the old one becomes invalid.',
      input: { params, body: schemas.claimBody, optionalBody: true },
      output: shapes.claimedOutput,
      handle: async (request) => {
        const claimed = await service.claim(getIdParam(request), getRequestCaller(request), request.body ?? {});
        return buildSecretReply({ ...claimed, ...(await lists.getBriefing(claimed.item)) });
      },
    },
    {
      ...shared,
      path: `${BASE_PATH}/bugs/{id}/renew`,
      operationId: 'renewLease',
      errors: ['already_claimed', 'lease_lost', 'lease_limit'],
      summary: 'Renew a lease from now, up to 24 hours in total',
      tool: tools.renew,
      input: { params, body: schemas.renewBody },
      output: shapes.renewedOutput,
      handle: async (request) =>
        buildSecretReply(
          await service.renew(getIdParam(request), getRequestCaller(request), getCleanBody(request) as RenewalRequest),
        ),
    },
    {
      ...shared,
      path: `${BASE_PATH}/bugs/{id}/release`,
      operationId: 'releaseItem',
      errors: ['already_claimed', 'lease_lost'],
      summary: 'Release a claimed item',
      tool: tools.release,
      description:
        'For 24 hours `action=next` does not assign the item to the credential and agent that released it. The third release without ' +
        'a change of status sets it to `needs_info`.',
      input: { params, body: schemas.releaseBody },
      output: shapes.itemOutput,
      handle: async (request) => {
        const body = getCleanBody(request) as ReleaseRequest;
        return { item: await service.release(getIdParam(request), getRequestCaller(request), body) };
      },
    },
  ];
}

const buildSecretReply = (body: object): Reply => new Reply(200, body).header('cache-control', 'no-store');
