import joi from 'joi';
import {
  created,
  withSchemaName,
  createPageSchema,
  withJsonSchema,
  text,
  timeParameter,
  whole,
  type RouteSpec,
} from '../../../kernel/contract/index.js';
import { formatCsv, INCIDENT_COLUMNS, toIncidentRows } from '../incidents/incident-csv.js';
import type { IncidentQuery } from '../incidents/incident-service.js';
import { toWatchdogCaller } from '../model/caller.js';
import type { MonitorDoc } from '../model/documents.js';
import { getUptimeDays, type UptimeDays } from '../model/uptime.js';
import type { WatchdogServices } from '../services.js';
import { queryInstant, instant, monitorState, sourceParam } from './schemas.js';
import { daysParam, uptimeOutput } from './uptime-schemas.js';

const BASE = '/api/watchdog/v1';
const INCIDENTS_PATH = `${BASE}/incidents`;
const READ = [{ anyScope: ['watchdog:read', 'watchdog:manage'] }, { sharedKey: true }] as const;
const MANAGE = { scope: 'watchdog:manage' } as const;
const CSV_TYPE = 'text/csv; charset=utf-8';

const nullableText = joi.string().allow(null);
const nullableTime = instant.allow(null);
const incidentSchema = withSchemaName(
  'Incident',
  whole({
    id: joi.string(),
    source: joi.string(),
    project: nullableText,
    began_at: instant,
    ended_at: nullableTime.description('Null while it is ongoing'),
    ended_in: monitorState.allow(null),
    duration_seconds: joi.number(),
    message: joi.string().allow(''),
    note: nullableText.allow('').description('Message of its heartbeat, if it reported the error itself'),
    alarm_id: nullableText,
    alarm_at: nullableTime,
    recovered_at: nullableTime,
    deferred: joi.boolean(),
    suppressed_by: nullableText,
    cause: nullableText.description('Root cause found by users'),
    comments: joi.array().items(whole({ at: instant, by: joi.string(), text: joi.string() })),
    acknowledged_by: nullableText.description('User who acknowledged it'),
    acknowledged_at: nullableTime,
  }),
);
const receiverSchema = withSchemaName(
  'AlarmReceiver',
  whole({
    kind: joi.string(),
    name: joi.string(),
    event: joi.string(),
    state: joi.string(),
    at: nullableTime,
    href: joi.string(),
  }),
);
const incidentOutput = withSchemaName('IncidentAnswer', whole({ incident: incidentSchema }));
const csvSchema = withJsonSchema({ contentMediaType: 'text/csv' }, joi.string());
const filterFields = {
  source: joi.string().max(128),
  open: joi.boolean().truthy('1').falsy('0').description('True for ongoing incidents, false for ended ones'),
  since: queryInstant.description('Incidents that started then or later'),
  until: queryInstant,
};
const pageQuery = joi.object({
  ...filterFields,
  limit: joi.number().integer().min(1).max(200),
  cursor: joi.string().max(20_000),
});
const daysQuery = joi.object({ days: daysParam.default(90) });
const MAX_CSV_ROWS = 200;

/** @throws ServiceError validation_failed */
function parseQueryTimes({ since, until, ...given }: IncidentQuery): IncidentQuery {
  const times = { since: timeParameter('since', since), until: timeParameter('until', until) };
  return { ...given, ...Object.fromEntries(Object.entries(times).filter(([, value]) => value !== undefined)) };
}
const params = joi.object({ id: joi.string().guid().required() });

const DAY_COLUMNS = ['day', 'up_seconds', 'warning_seconds', 'down_seconds', 'share'];

export function buildIncidentRoutes({ incidents, monitors, audit, clock }: WatchdogServices): RouteSpec[] {
  const days = (doc: MonitorDoc, query: unknown): UptimeDays =>
    getUptimeDays(doc, clock.now(), (query as { days?: number }).days ?? 90);
  return [
    {
      method: 'GET',
      path: INCIDENTS_PATH,
      operationId: 'listIncidents',
      summary: 'List incidents (periods in which monitors were down), newest first; stored for 400 days',
      access: READ,
      input: { query: pageQuery },
      strictQuery: true,
      output: createPageSchema('IncidentPage', incidentSchema),
      handle: async ({ query, principal }) => incidents.listPage(parseQueryTimes(query), toWatchdogCaller(principal)),
    },
    {
      method: 'GET',
      path: `${INCIDENTS_PATH}.csv`,
      operationId: 'exportIncidents',
      summary: 'Export the newest 200 incidents as CSV; earlier ones with `until`',
      access: READ,
      input: { query: joi.object(filterFields) },
      strictQuery: true,
      output: csvSchema,
      handle: async ({ query, principal }) => {
        const { items } = await incidents.listPage(
          { ...parseQueryTimes(query), limit: MAX_CSV_ROWS },
          toWatchdogCaller(principal),
        );
        return text(formatCsv([INCIDENT_COLUMNS, ...toIncidentRows(items)]), CSV_TYPE);
      },
    },
    {
      method: 'GET',
      path: `${INCIDENTS_PATH}/{id}`,
      operationId: 'getIncident',
      errors: ['not_found'],
      summary: 'Get an incident and its notifications',
      access: READ,
      input: { params },
      output: withSchemaName(
        'IncidentDetail',
        whole({ incident: incidentSchema, told: joi.array().items(receiverSchema) }),
      ),
      handle: async ({ params: { id = '' }, principal }) => {
        const caller = toWatchdogCaller(principal);
        const doc = await incidents.getIncident(id, caller);
        return { incident: await incidents.getView(id, caller), told: await incidents.listReceivers(doc) };
      },
    },
    {
      method: 'PATCH',
      path: `${INCIDENTS_PATH}/{id}`,
      operationId: 'explainIncident',
      errors: ['not_found'],
      summary: 'Set the root cause',
      access: MANAGE,
      input: {
        params,
        body: withSchemaName(
          'IncidentChange',
          joi.object({ cause: joi.string().max(2_000).allow(null, '').required() }),
        ),
      },
      output: incidentOutput,
      handle: async ({ params: { id = '' }, body, principal }) => {
        const { cause } = body as { cause: string | null };
        const explained = await incidents.setCause(id, cause, toWatchdogCaller(principal));
        await audit.record(principal, 'incident.explained', id, { source: explained.source });
        return { incident: explained };
      },
    },
    {
      method: 'POST',
      path: `${INCIDENTS_PATH}/{id}/comments`,
      operationId: 'commentIncident',
      errors: ['not_found', 'conflict'],
      summary: 'Comment an incident',
      access: MANAGE,
      input: {
        params,
        body: withSchemaName(
          'IncidentCommentCreation',
          joi.object({ text: joi.string().min(1).max(5_000).required() }),
        ),
      },
      status: 201,
      output: incidentOutput,
      handle: async ({ params: { id = '' }, body, principal }) =>
        created({
          incident: await incidents.addComment(id, (body as { text: string }).text, toWatchdogCaller(principal)),
        }),
    },
    ...([true, false] as const).map((isAcknowledging): RouteSpec => ({
      method: isAcknowledging ? 'POST' : 'DELETE',
      path: `${INCIDENTS_PATH}/{id}/acknowledge`,
      operationId: isAcknowledging ? 'acknowledgeIncident' : 'handBackIncident',
      errors: ['not_found', 'conflict'],
      summary: isAcknowledging
        ? 'Acknowledge an incident, or take it over'
        : 'Remove the acknowledgment of an incident',
      access: MANAGE,
      input: { params },
      output: incidentOutput,
      handle: async ({ params: { id = '' }, principal }) => {
        const incident = await incidents.acknowledge(id, isAcknowledging, toWatchdogCaller(principal));
        const act = isAcknowledging ? 'incident.acknowledged' : 'incident.handed_back';
        await audit.record(principal, act, id, { source: incident.source });
        return { incident };
      },
    })),
    {
      method: 'GET',
      path: `${BASE}/monitors/{source}/uptime`,
      operationId: 'getUptime',
      errors: ['not_found'],
      summary: 'Get how long a monitor was up, in warning and down, by day (UTC), oldest first',
      access: READ,
      input: { params: sourceParam, query: daysQuery },
      output: uptimeOutput,
      handle: async ({ params: { source = '' }, query, principal }) => {
        const doc = await monitors.getMonitor(source, toWatchdogCaller(principal));
        return { source: doc.source, ...days(doc, query) };
      },
    },
    {
      method: 'GET',
      path: `${BASE}/monitors/{source}/uptime.csv`,
      operationId: 'exportUptime',
      errors: ['not_found'],
      summary: 'Export the same days as CSV',
      access: READ,
      input: { params: sourceParam, query: daysQuery },
      output: csvSchema,
      handle: async ({ params: { source = '' }, query, principal }) => {
        const rows = days(await monitors.getMonitor(source, toWatchdogCaller(principal)), query).days;
        return text(formatCsv([DAY_COLUMNS, ...rows.map((row) => Object.values(row))]), CSV_TYPE);
      },
    },
  ];
}
