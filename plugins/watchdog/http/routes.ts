import { findChangedFields } from '../../../lib/changed-fields.js';
import {
  created,
  deleted,
  text,
  timeParameter,
  type HttpRequest,
  type RouteSpec,
} from '../../../kernel/contract/index.js';
import { conflict, invalid } from '../../../kernel/errors.js';
import type { MonitorFields } from '../../../ports/domain/watchdog.js';
import { toWatchdogCaller, assertCanReport, toWatchdogReader } from '../model/caller.js';
import { parseHeartbeat, type HeartbeatBody } from '../heartbeat/heartbeat.js';
import type { HistoryQuery } from '../metrics/metric-history-service.js';
import { toMonitorView } from '../model/monitor-view.js';
import type { MonitorUpdate } from '../monitors/monitor-service.js';
import type { ProbeInput } from '../monitors/probed-monitor-service.js';
import { monitorBody, patchBody } from './monitor-bodies.js';
import * as schemas from './schemas.js';
import type { WatchdogServices } from '../services.js';
import type { Annotation, TimelineQuery } from '../timeline/timeline-service.js';
import { pickWarnings } from '../../../ports/store/skipped-documents.js';

const BASE = '/api/watchdog/v1';
const PING_ACCESS = { scope: 'watchdog:ping' } as const;
const MANAGE_ACCESS = { scope: 'watchdog:manage' } as const;
const READ_ACCESS = [{ scope: 'watchdog:read' }, { sharedKey: true }] as const;
/** A `wd_live_` token reads its own source; others need watchdog:read (`toWatchdogReader`). */
const READ_OWN_ACCESS = [{ anyScope: ['watchdog:read', 'watchdog:ping'] }, { sharedKey: true }] as const;
const JSON_TYPE = 'application/json; charset=utf-8';
const MAX_HEARTBEAT_BYTES = 64 * 1024;

const params = schemas.sourceParam;
const getSourceParam = (request: HttpRequest): string => request.params['source'] ?? '';

export function buildWatchdogRoutes(services: WatchdogServices): RouteSpec[] {
  return [
    buildPingRoute(services),
    buildEvaluateRoute(services),
    buildRunsRoute(services),
    buildAnnotateRoute(services),
    buildEventsRoute(services),
    buildStatusRoute(services),
    buildMetricsRoute(services),
    ...buildMonitorRoutes(services),
  ];
}

const buildPingRoute = ({ intake, beats }: WatchdogServices): RouteSpec => ({
  method: 'POST',
  path: `${BASE}/ping`,
  operationId: ['sendHeartbeat', 'sendHeartbeatByOtherPath'],
  aliases: [`${BASE}/heartbeat`],
  summary: 'Report a heartbeat',
  description:
    'The first heartbeat of a source creates its monitor (201). Responds after the write is committed. Only the receive time of ' +
    'the server is used. Metrics that cannot be sampled are listed in `dropped_metrics`; the heartbeat is still accepted.',
  access: PING_ACCESS,
  input: { body: schemas.heartbeatBody, report: true },
  limits: { rate: 'intake', space: true, bytes: MAX_HEARTBEAT_BYTES },
  status: [200, 201],
  output: schemas.heartbeatOutput,
  errors: ['source_mismatch'],
  handle: async (request) => {
    const caller = toWatchdogCaller(request.principal);
    const { created: isNew, ...answer } = await intake.recordHeartbeat(
      parseHeartbeat(request.body as HeartbeatBody),
      caller,
    );
    beats();
    return isNew ? created(answer) : answer;
  },
});

const buildEvaluateRoute = ({ evaluator }: WatchdogServices): RouteSpec => ({
  method: ['GET', 'POST'],
  path: `${BASE}/evaluate`,
  operationId: ['runEvaluatorByGet', 'runEvaluator'],
  summary: 'Run the evaluator',
  description: '409 `conflict` while another run is in progress, in any process.',
  access: { sharedKey: true },
  output: schemas.runOutput,
  errors: ['conflict'],
  handle: async () => {
    const done = await evaluator.evaluate('http');
    if (done === null) throw conflict('Another evaluator run is in progress.');
    return { run: done.run };
  },
});

const buildRunsRoute = ({ runs: service }: WatchdogServices): RouteSpec => ({
  method: 'GET',
  path: `${BASE}/runs`,
  operationId: 'listRuns',
  summary: 'List evaluator runs, newest first',
  access: READ_ACCESS,
  input: { query: schemas.pageQuery },
  strictQuery: true,
  output: schemas.runPage,
  handle: async ({ query, principal }) => {
    const {
      limit = 50,
      cursor = null,
      include_total,
    } = query as { limit?: number; cursor?: string; include_total?: boolean };
    const page = await service.listPage(limit, cursor, toWatchdogCaller(principal));
    const total = include_total ? { total: await service.countRuns() } : {};
    return { items: page.items, next_cursor: page.next, has_more: page.next !== null, ...total, ...pickWarnings(page) };
  },
});

const buildAnnotateRoute = ({ timeline }: WatchdogServices): RouteSpec => ({
  method: 'POST',
  path: `${BASE}/event`,
  operationId: 'noteEvent',
  errors: ['source_mismatch', 'not_found'],
  summary: 'Add a note to the timeline of a monitor',
  access: PING_ACCESS,
  input: { body: schemas.eventBody },
  limits: { rate: 'intake', space: true, bytes: MAX_HEARTBEAT_BYTES },
  status: 201,
  output: schemas.eventOutput,
  handle: async (request) =>
    created({ event: await timeline.annotate(request.body as Annotation, toWatchdogCaller(request.principal)) }),
});

const buildEventsRoute = ({ timeline }: WatchdogServices): RouteSpec => ({
  method: 'GET',
  path: `${BASE}/events`,
  operationId: 'listTimelineEvents',
  errors: ['source_mismatch'],
  summary: 'List the timeline: transitions, alarms, suppressions and notes, newest first',
  access: READ_OWN_ACCESS,
  input: { query: schemas.eventsQuery },
  strictQuery: true,
  output: schemas.eventPage,
  handle: (request) => {
    const query = request.query as TimelineQuery;
    const times = { since: timeParameter('since', query.since), until: timeParameter('until', query.until) };
    return timeline.listPage({ ...query, ...omitNulls(times) }, toWatchdogReader(request.principal));
  },
});

const buildStatusRoute = ({ status: service }: WatchdogServices): RouteSpec => ({
  method: 'GET',
  path: `${BASE}/status`,
  operationId: 'getStatus',
  errors: ['source_mismatch'],
  summary: 'Get the current state of all monitors',
  description:
    'From a snapshot that is at most 2 s old. Without `limit` and `cursor` the first 5,000 by source, with `truncated: true` if ' +
    'there are more; `counts` include all. `tree=1` adds the hierarchy, at most 5,000 monitors of it, and `tree_left_out`. `stale` ' +
    'is true when the evaluator is late. With `uptime`, each monitor has the uptime of this many days (UTC), oldest first, the ' +
    'current one last; 400 `invalid_request` for `uptime` if monitors × days exceed 80,000.',
  access: READ_OWN_ACCESS,
  input: { query: schemas.statusQuery },
  strictQuery: true,
  output: schemas.statusOutput,
  handle: async (request) =>
    text(await service.getStatusJson(request.query, toWatchdogReader(request.principal)), JSON_TYPE),
});

const buildMetricsRoute = ({ histories, monitors: service }: WatchdogServices): RouteSpec => ({
  method: 'GET',
  path: `${BASE}/metrics`,
  operationId: 'getMetricHistory',
  errors: ['source_mismatch', 'not_found'],
  summary: 'Get the aggregated history of metrics, and the deviation from the seven-day average',
  description:
    'Buckets are aligned to the epoch and at most `points`; empty ones are omitted. `resolution` is the minimum width in seconds. ' +
    'The baseline covers all samples of the last 7 days, `stddev` with n−1.',
  access: READ_OWN_ACCESS,
  input: { query: schemas.metricsQuery },
  output: schemas.metricsOutput,
  handle: async (request) => {
    const query = request.query as unknown as HistoryQuery & { source: string };
    const caller = toWatchdogReader(request.principal);
    assertCanReport(caller, query.source);
    const times = { from: timeParameter('from', query.from), to: timeParameter('to', query.to) };
    return histories.getHistory(await service.getMonitor(query.source, caller), { ...query, ...omitNulls(times) });
  },
});

function buildMonitorRoutes({ probed: service, status: lists, audit }: WatchdogServices): RouteSpec[] {
  const path = `${BASE}/monitors/{source}`;
  return [
    {
      method: 'GET',
      path: `${BASE}/monitors`,
      operationId: 'listMonitors',
      summary: 'List monitors, by source',
      access: READ_ACCESS,
      input: { query: schemas.monitorsQuery },
      strictQuery: true,
      output: schemas.monitorPage,
      handle: async (request) => {
        const page = await lists.listPage(request.query, toWatchdogCaller(request.principal));
        const { docs, next, total } = page;
        const items = docs.map(toMonitorView);
        const list = { items, next_cursor: next, has_more: next !== null, ...pickWarnings(page) };
        return total === undefined ? list : { ...list, total };
      },
    },
    {
      method: 'POST',
      path: `${BASE}/monitors`,
      operationId: 'createMonitor',
      errors: ['conflict', 'unknown_project'],
      summary: 'Create a monitor; until its first heartbeat it is unknown and does not alarm',
      access: MANAGE_ACCESS,
      input: { body: monitorBody },
      status: 201,
      output: schemas.monitorOutput,
      handle: async (request) => {
        const fields = request.body as MonitorFields & ProbeInput;
        const monitor = await service.create(fields, toWatchdogCaller(request.principal));
        await audit.record(request.principal, 'monitor.created', monitor.source);
        return created({ monitor, ...service.listWarnings(fields) });
      },
    },
    {
      method: 'GET',
      path,
      operationId: 'getMonitor',
      summary: 'Get a monitor by source (percent-encoded) or id',
      access: READ_ACCESS,
      input: { params },
      output: schemas.monitorOutput,
      handle: async (request) => ({
        monitor: await service.getView(getSourceParam(request), toWatchdogCaller(request.principal)),
      }),
    },
    {
      method: 'PATCH',
      path,
      operationId: 'changeMonitor',
      errors: ['conflict', 'unknown_project'],
      summary: 'Change the given fields of a monitor',
      access: MANAGE_ACCESS,
      input: { params, body: patchBody },
      output: schemas.monitorOutput,
      handle: async (request) => {
        const { source, ...edit } = request.body as MonitorUpdate & ProbeInput & { source?: string };
        const caller = toWatchdogCaller(request.principal);
        const before = await service.getView(getSourceParam(request), caller);
        if (source !== undefined && source !== before.source) {
          throw invalid({ source: 'cannot be changed: create another monitor' });
        }
        const monitor = await service.update(getSourceParam(request), edit, caller);
        const change = findChangedFields(before, monitor, Object.keys(edit));
        await audit.record(request.principal, 'monitor.changed', monitor.source, {}, change);
        return { monitor, ...service.listWarnings(edit) };
      },
    },
    {
      method: 'DELETE',
      path,
      operationId: 'deleteMonitor',
      errors: ['conflict'],
      summary: 'Delete a monitor and revoke the tokens bound to its source',
      access: MANAGE_ACCESS,
      input: { params },
      output: deleted,
      handle: async (request) => {
        const source = await service.remove(getSourceParam(request), toWatchdogCaller(request.principal));
        await audit.record(request.principal, 'monitor.deleted', source);
        return { deleted: true };
      },
    },
  ];
}

const omitNulls = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
