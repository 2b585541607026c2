/** The routes of the bug tracker (contract 20, endpoints). A handler translates; the services decide. */
import { created, type HttpRequest, type RouteSpec } from '../../kernel/contract.js';
import { denied, invalidQuery } from '../../kernel/errors.js';
import { Reply } from '../../ports/http.js';
import type { Json } from '../../ports/store.js';
import { callerOf, mayTouch } from './caller.js';
import { cleanJson } from './clean.js';
import type { Part } from './discussion.js';
import type { Edit } from './edits.js';
import type { LeaseRequest } from './leases.js';
import type { ListRequest } from './lists.js';
import { reportOf, type ReportBody } from './report-body.js';
import * as schemas from './schemas.js';
import type { Services } from './services.js';

const BASE = '/api/bugtracker/v1';
const REPORT = 'bugtracker:report';
const READ = 'bugtracker:read';
const MANAGE = 'bugtracker:manage';

type BugsQuery = ListRequest & LeaseRequest & { action?: 'next' };
const params = schemas.idParam;
const idOf = (request: HttpRequest): string => request.params['id'] ?? '';

/** Parameters that mean nothing when one item is fetched, and those that only then mean something. */
const LIST_ONLY = ['limit', 'cursor', 'include_total', 'sort', 'order', 'updated_since'];
const NEXT_ONLY = ['agent', 'lease_seconds'];

function refuse(query: Record<string, unknown>, names: readonly string[], what: string): void {
  const wrong = names.filter((name) => query[name] !== undefined);
  if (wrong.length > 0) throw invalidQuery(Object.fromEntries(wrong.map((name) => [name, what])));
}

export function routes(services: Services): RouteSpec[] {
  return [
    report(services),
    projects(services),
    list(services),
    next(services),
    detail(services),
    edit(services),
    ...parts(services),
    comment(services),
    ...leases(services),
  ];
}

const report = ({ bugs }: Services): RouteSpec => ({
  method: 'POST',
  path: `${BASE}/report`,
  summary: 'Report a bug, a feature request or an error',
  description:
    'A known `client_ref` answers the same item and counts nothing; a report that matches a known one is counted there. ' +
    'Long texts are cut (`description` and `stack_trace` 65,536 characters, `error_message` 8,192) and named in `truncated`.',
  access: { scope: REPORT },
  input: { body: schemas.reportBody },
  status: 201,
  output: schemas.reportOutput,
  handle: async (request) => {
    const caller = callerOf(request.principal);
    const { report: given, truncated } = reportOf(request.body as ReportBody, caller);
    mayTouch(caller, given.project);
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
    };
    return new Reply(done.created ? 201 : 200, answer);
  },
});

const projects = ({ lists }: Services): RouteSpec => ({
  method: 'GET',
  path: `${BASE}/projects`,
  summary: 'The projects, with open items and newest version',
  access: { anyScope: [REPORT, READ, MANAGE] },
  output: schemas.projectsOutput,
  handle: async (request) => ({ projects: await lists.projects(callerOf(request.principal)) }),
});

const list = (services: Services): RouteSpec => ({
  method: 'GET',
  path: `${BASE}/bugs`,
  summary: 'List items, ask what changed, or fetch and reserve the next one',
  description:
    'Repeated filters are alternatives. `updated_since` (inclusive) orders by change and answers `server_time`, the mark for the ' +
    'next question. `action=next` needs bugtracker:manage and answers `{item, lease}`, or `{item: null}` when there is none.',
  access: { scope: READ },
  input: { query: schemas.bugsQuery },
  strictQuery: true,
  output: schemas.bugsOutput,
  handle: async (request) => {
    const query = request.query as BugsQuery;
    if (query.action === 'next') return fetchNext(services, request, query);
    refuse(request.query, NEXT_ONLY, 'only with action=next');
    return services.lists.list(callerOf(request.principal), { ...query, updated_since: instant(query.updated_since) });
  },
});

const next = (services: Services): RouteSpec => ({
  method: 'POST',
  path: `${BASE}/bugs`,
  summary: 'Fetch and reserve the next item in one atomic step (action=next)',
  access: { scope: MANAGE },
  input: { query: schemas.bugsQuery, body: schemas.claimBody, optionalBody: true },
  strictQuery: true,
  output: schemas.bugsOutput,
  handle: async (request) => {
    const query = request.query as BugsQuery;
    if (query.action !== 'next') throw invalidQuery({ action: 'must be next' });
    return fetchNext(services, request, { ...query, ...(request.body as LeaseRequest | null) });
  },
});

async function fetchNext({ leases: service, lists }: Services, request: HttpRequest, query: BugsQuery): Promise<Reply> {
  const caller = callerOf(request.principal);
  if (!caller.manage) throw denied('action=next needs the scope bugtracker:manage.');
  refuse(request.query, LIST_ONLY, 'not with action=next');
  const granted = await service.next(caller, query, lists.filter(caller, query));
  return new Reply(200, granted).header('cache-control', 'no-store');
}

/** Any offset becomes UTC with milliseconds: the store compares text. */
function instant(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw invalidQuery({ updated_since: 'must be an RFC 3339 timestamp' });
  return new Date(ms).toISOString();
}

const detail = ({ lists }: Services): RouteSpec => ({
  method: 'GET',
  path: `${BASE}/bugs/{id}`,
  summary: 'One item with its last ten occurrences, comments and history entries',
  access: { scope: READ },
  input: { params },
  output: schemas.detailOutput,
  handle: (request) => lists.detail(idOf(request), callerOf(request.principal)),
});

const edit = ({ edits }: Services): RouteSpec => ({
  method: 'PATCH',
  path: `${BASE}/bugs/{id}`,
  summary: 'Change an item',
  description:
    '`If-Match: "<rev>"` is optional. Under a live lease the current `claim_token` is needed, or `force` with a `reason`.',
  access: { scope: MANAGE },
  input: { params, body: schemas.editBody },
  output: schemas.itemOutput,
  handle: async (request) => ({
    item: await edits.edit(
      idOf(request),
      callerOf(request.principal),
      cleanJson(request.body as Json) as Edit,
      request.headers['if-match'],
    ),
  }),
});

function parts({ discussion }: Services): RouteSpec[] {
  const names: Part[] = ['occurrences', 'activity', 'comments'];
  return names.map((part) => ({
    method: 'GET',
    path: `${BASE}/bugs/{id}/${part}`,
    summary: `The ${part} of an item, newest first`,
    access: { scope: READ },
    input: { params, query: schemas.pageQuery },
    strictQuery: true,
    output: schemas.listOf(schemas.parts[part]),
    handle: (request) => discussion.page(idOf(request), callerOf(request.principal), part, request.query),
  }));
}

const comment = ({ discussion }: Services): RouteSpec => ({
  method: 'POST',
  path: `${BASE}/bugs/{id}/comments`,
  summary: 'Comment on an item',
  description: 'With bugtracker:report alone only on items that the same token created.',
  access: { anyScope: [MANAGE, REPORT] },
  input: { params, body: schemas.commentBody },
  status: 201,
  output: schemas.commentOutput,
  handle: async (request) => {
    const { body, claim_token } = cleanJson(request.body as Json) as { body: string; claim_token?: string };
    return created({
      comment: await discussion.comment(idOf(request), callerOf(request.principal), body, claim_token),
    });
  },
});

function leases({ leases: service }: Services): RouteSpec[] {
  const shared = { method: 'POST', access: { scope: MANAGE } } as const;
  return [
    {
      ...shared,
      path: `${BASE}/bugs/{id}/claim`,
      summary: 'Claim an item',
      description: 'The same credential and agent get their lease back with a new `claim_token`; the old one is dead.',
      input: { params, body: schemas.claimBody, optionalBody: true },
      output: schemas.grantedOutput,
      handle: async (request) =>
        secret(await service.claim(idOf(request), callerOf(request.principal), request.body ?? {})),
    },
    {
      ...shared,
      path: `${BASE}/bugs/{id}/renew`,
      summary: 'Renew a lease, from now; 24 hours in all',
      input: { params, body: schemas.renewBody },
      output: schemas.grantedOutput,
      handle: async (request) =>
        secret(
          await service.renew(
            idOf(request),
            callerOf(request.principal),
            request.body as LeaseRequest & { claim_token: string },
          ),
        ),
    },
    {
      ...shared,
      path: `${BASE}/bugs/{id}/release`,
      summary: 'Give a claimed item back',
      input: { params, body: schemas.releaseBody },
      output: schemas.itemOutput,
      handle: async (request) => {
        const { claim_token } = request.body as { claim_token: string };
        return { item: await service.release(idOf(request), callerOf(request.principal), claim_token) };
      },
    },
  ];
}

const secret = (body: object): Reply => new Reply(200, body).header('cache-control', 'no-store');
