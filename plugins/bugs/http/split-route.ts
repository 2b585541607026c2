import type { HttpRequest, RouteSpec } from '../../../kernel/contract/index.js';
import type { Json } from '../../../ports/store/index.js';
import { getRequestCaller } from '../caller.js';
import type { BugServices } from '../services.js';
import { isSelection, type SplitRequest } from '../splitting/split-service.js';
import { cleanJson } from '../text/clean-report.js';
import { BASE_PATH, getIdParam, MANAGE_SCOPE, READ_SCOPE } from './paths.js';
import { idParam } from './schemas.js';
import { groupingOutput, splitBody, splitOutput } from './split-schemas.js';
import * as tools from './tools.js';

export const buildSplitRoute = (services: Pick<BugServices, 'merging' | 'splitting'>): RouteSpec => ({
  method: 'POST',
  path: `${BASE_PATH}/bugs/{id}/split`,
  operationId: 'splitItem',
  summary: 'Split an item by occurrence, or revert a merge',
  tool: tools.split,
  description:
    'An empty body returns the grouping keys to a `duplicate` and opens it. With `occurrences` or `by` the selected part ' +
    'becomes a new item, and later reports of it are counted there; `merge` of the new item into this one reverts it. With ' +
    '`dry_run` nothing is stored: the response shows what would be moved, and without a selection how the occurrences differ. ' +
    'Under a live lease as with PATCH.',
  access: { scope: MANAGE_SCOPE },
  input: {
    params: idParam,
    body: splitBody,
    optionalBody: true,
    headers: { 'If-Match': '`"<rev>"`: only if the item still has this revision' },
  },
  output: splitOutput,
  errors: [
    'already_claimed',
    'claim_required',
    'conflict',
    'invalid_transition',
    'lease_lost',
    'precondition_failed',
    'reason_required',
  ],
  handle: (request) => splitItem(services, request),
});

export const buildGroupingRoute = ({ reasons }: Pick<BugServices, 'reasons'>): RouteSpec => ({
  method: 'GET',
  path: `${BASE_PATH}/bugs/{id}/grouping`,
  operationId: 'explainGrouping',
  summary: 'Why the reports of an item are one group',
  description:
    'Its grouping keys and their parts: class, origin and masked message, and how each came to the item; what was ' +
    'merged into it and split off from it. `says` contains all of it in sentences.',
  access: { scope: READ_SCOPE },
  input: { params: idParam },
  output: groupingOutput,
  handle: async (request) => ({
    grouping: await reasons.getReasonsByName(getIdParam(request), getRequestCaller(request)),
  }),
});

async function splitItem(
  { merging, splitting }: Pick<BugServices, 'merging' | 'splitting'>,
  request: HttpRequest,
): Promise<object> {
  const body = (cleanJson(request.body as Json) ?? {}) as SplitRequest & { dry_run?: boolean };
  const { dry_run, ...splitRequest } = body;
  const caller = getRequestCaller(request);
  const if_match = request.headers['if-match'];
  if (dry_run === true) return splitting.preview(getIdParam(request), caller, splitRequest);
  if (isSelection(splitRequest)) return splitting.split(getIdParam(request), caller, splitRequest, if_match);
  return { item: await merging.split(getIdParam(request), caller, { if_match }) };
}
