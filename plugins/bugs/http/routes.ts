import { timeParameter, type HttpRequest, type RouteSpec } from '../../../kernel/contract/index.js';
import { denied, invalidQuery } from '../../../kernel/errors.js';
import { Reply } from '../../../ports/http/index.js';
import { getRequestCaller, checkProjectAccess } from '../caller.js';
import type { ItemPart } from '../lists/item-parts.js';
import type { NextRequest } from '../claims/next-item.js';
import type { ItemListRequest } from '../lists/item-list.js';
import { BASE_PATH, getIdParam, MANAGE_SCOPE, READ_SCOPE, REPORT_SCOPE } from './paths.js';
import { parseReportBody, type ReportBody } from './report-body.js';
import { buildEditRoutes } from './routes-editing.js';
import * as schemas from './schemas.js';
import * as shapes from './schemas-output.js';
import type { BugServices } from '../services.js';
import { buildGroupingRuleRoutes } from './grouping-rule-routes.js';
import { buildGroupingRoute } from './split-route.js';
import * as tools from './tools.js';

type BugsQuery = ItemListRequest & NextRequest & { action?: 'next' };
const params = schemas.idParam;

const LIST_PARAMETERS = ['limit', 'cursor', 'include_total', 'sort', 'order', 'updated_since'];
const NEXT_PARAMETERS = ['agent', 'lease_seconds', 'wait_seconds'];

function rejectParameters(query: Record<string, unknown>, names: readonly string[], what: string): void {
  const wrong = names.filter((name) => query[name] !== undefined);
  if (wrong.length > 0) throw invalidQuery(Object.fromEntries(wrong.map((name) => [name, what])));
}

export function buildBugRoutes(services: BugServices): RouteSpec[] {
  return [
    buildReportRoute(services),
    buildProjectsRoute(services),
    buildListRoute(services),
    buildNextRoute(services),
    buildDetailRoute(services),
    buildSimilarRoute(services),
    buildGroupingRoute(services),
    ...buildGroupingRuleRoutes(services),
    ...buildPartRoutes(services),
    buildStatsRoute(services),
    ...buildEditRoutes(services),
  ];
}

const buildReportRoute = ({ bugs, builds, secrets }: BugServices): RouteSpec => ({
  method: 'POST',
  path: `${BASE_PATH}/report`,
  operationId: 'reportBug',
  onRefused: () => bugs.countRejection('agent'),
  summary: 'Report a bug, a feature request or an error',
  tool: tools.report,
  description:
    'A repeated `client_ref` returns the same item and counts nothing; a report that matches an existing item is counted there. ' +
    'Long texts are truncated (`description` and `stack_trace` 65,536 characters, `error_message` 8,192) and listed in `truncated`.',
  access: { scope: REPORT_SCOPE },
  input: { body: schemas.reportBody },
  status: [200, 201],
  output: shapes.reportOutput,
  errors: ['unknown_project'],
  limits: { space: true },
  handle: async (request) => {
    const caller = getRequestCaller(request);
    const { report: given, truncated } = parseReportBody(request.body as ReportBody, caller);
    checkProjectAccess(caller, given.project);
    await secrets.rejectSecrets(request.body as Record<string, unknown>);
    const done = await bugs.record(given, { texts: true });
    const answer = {
      id: done.id,
      ref: done.ref,
      created: done.created,
      deduplicated: done.deduplicated,
      item_status: done.item.status,
      severity: done.item.severity,
      dedup_key: done.dedup_key,
      client_ref: given.client_ref ?? done.item.client_ref,
      truncated,
      item: done.item,
      ...(given.resolved_in_build && { latest_build: await builds.findLatestVersion(given.project) }),
    };
    return new Reply(done.created ? 201 : 200, answer);
  },
});

const buildProjectsRoute = ({ lists }: BugServices): RouteSpec => ({
  method: 'GET',
  path: `${BASE_PATH}/projects`,
  operationId: 'listTrackedProjects',
  summary: 'List projects, with open items and newest version',
  access: { anyScope: [REPORT_SCOPE, READ_SCOPE, MANAGE_SCOPE] },
  output: shapes.projectsOutput,
  handle: async (request) => ({ projects: await lists.listProjects(getRequestCaller(request)) }),
});

const buildListRoute = (services: BugServices): RouteSpec => ({
  method: 'GET',
  path: `${BASE_PATH}/bugs`,
  operationId: 'listItems',
  summary: 'List items, or get changes',
  tool: tools.search,
  description:
    'Repeated filters are alternatives. `updated_since` (inclusive) orders by change and returns `server_time`, the value for the ' +
    'next query. With `action=next` it works like `POST`.',
  access: { scope: READ_SCOPE },
  input: { query: schemas.bugsQuery },
  strictQuery: true,
  waits: ({ query }) => query['action'] === 'next',
  output: shapes.bugsOutput,
  handle: async (request) => {
    const query = request.query as BugsQuery;
    if (query.action === 'next') return fetchNext(services, request, query);
    rejectParameters(request.query, NEXT_PARAMETERS, 'only with action=next');
    return services.lists.list(getRequestCaller(request), {
      ...query,
      updated_since: timeParameter('updated_since', query.updated_since),
    });
  },
});

const buildNextRoute = (services: BugServices): RouteSpec => ({
  method: 'POST',
  path: `${BASE_PATH}/bugs`,
  operationId: 'claimNext',
  summary: 'Fetch and reserve the next item in one atomic step (action=next)',
  tool: tools.next,
  access: { scope: MANAGE_SCOPE },
  input: { query: schemas.nextQuery, body: schemas.nextBody, optionalBody: true },
  strictQuery: true,
  errors: ['too_many_claims'],
  output: shapes.nextOutput,
  handle: async (request) => {
    return fetchNext(services, request, { ...(request.query as BugsQuery), ...(request.body as NextRequest | null) });
  },
});

async function fetchNext(
  { nextItem: service, lists }: BugServices,
  request: HttpRequest,
  query: BugsQuery,
): Promise<Reply> {
  const caller = getRequestCaller(request);
  if (!caller.manage) throw denied('action=next requires the scope bugtracker:manage.');
  rejectParameters(request.query, LIST_PARAMETERS, 'not with action=next');
  const filter = await lists.toFilter(caller, query);
  const answered = (answer: object): Reply => new Reply(200, answer).header('cache-control', 'no-store');
  const granted = await service.reserveNext(caller, query, filter, request);
  // Newest first for agents; the route's own response follows its contract.
  if (granted.item === null || caller.by_tool !== true) return answered(granted);
  return answered({ ...granted, ...(await lists.getBriefing(granted.item)) });
}

const buildDetailRoute = ({ lists }: BugServices): RouteSpec => ({
  method: 'GET',
  path: `${BASE_PATH}/bugs/{id}`,
  operationId: 'getItem',
  summary: 'Get an item with its last ten occurrences, comments and history entries',
  tool: tools.get,
  access: { scope: READ_SCOPE },
  input: { params, query: schemas.detailQuery },
  output: shapes.detailOutput,
  handle: (request) => lists.getDetail(getIdParam(request), getRequestCaller(request), request.query),
});

const buildSimilarRoute = ({ lists }: BugServices): RouteSpec => ({
  method: 'GET',
  path: `${BASE_PATH}/bugs/{id}/similar`,
  operationId: 'listSimilarItems',
  summary: 'List items with the same class or origin, or similar words',
  description:
    'Other items of the project with the same `exception_class` or `file_path`, those with both first, then those with one, then those whose title, message or class has two of the longest words of its title, most words first.',
  tool: tools.similar,
  access: { scope: READ_SCOPE },
  input: { params, query: schemas.similarQuery },
  strictQuery: true,
  output: shapes.similarOutput,
  handle: async (request) => {
    const { limit } = request.query as { limit: number };
    return { items: await lists.listSimilar(getIdParam(request), getRequestCaller(request), limit) };
  },
});

const buildPartRoutes = (services: BugServices): RouteSpec[] => [
  { ...buildPartRoute(services, 'occurrences'), tool: tools.occurrences },
  buildPartRoute(services, 'activity'),
  { ...buildPartRoute(services, 'comments'), tool: tools.comments },
];

const buildPartRoute = ({ parts }: BugServices, name: ItemPart): RouteSpec => ({
  method: 'GET',
  path: `${BASE_PATH}/bugs/{id}/${name}`,
  operationId: `list${name[0]!.toUpperCase()}${name.slice(1)}`,
  summary: `The ${name} of an item, newest first`,
  access: { scope: READ_SCOPE },
  input: { params, query: name === 'occurrences' ? schemas.occurrencesQuery : schemas.pageQuery },
  strictQuery: true,
  output: shapes.partPages[name],
  handle: (request) =>
    parts.getPage(getIdParam(request), getRequestCaller(request), name, request.query, request.query),
});

const buildStatsRoute = ({ stats: service }: BugServices): RouteSpec => ({
  method: 'GET',
  path: `${BASE_PATH}/stats`,
  operationId: 'getItemStats',
  summary: 'Get item counts by status, severity and project, and activity for each of the last 30 days',
  description:
    'Days are in UTC, oldest first, today last. `resolved` counts an item once per cycle: when it is resolved, or closed ' +
    'without being resolved. `project` limits them to one; a token of one project sees only that project. From 100,000 items on, a response may be a second old for each ' +
    '100,000 of them.',
  access: { scope: READ_SCOPE },
  input: { query: schemas.statsQuery },
  output: shapes.statsOutput,
  handle: (request) => service.getStats(getRequestCaller(request), (request.query as { project?: string }).project),
});
