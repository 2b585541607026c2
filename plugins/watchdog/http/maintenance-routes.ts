import joi from 'joi';
import {
  created,
  deleted,
  MANAGED_FIELD,
  whole,
  withSchemaName,
  type RouteSpec,
} from '../../../kernel/contract/index.js';
import { MAX_REPEATED_SECONDS, MAX_WINDOW_SOURCES, type NewMaintenanceWindow } from '../maintenance/window-service.js';
import { toWatchdogCaller } from '../model/caller.js';
import type { WindowKind, WindowView } from '../model/maintenance-window.js';
import type { WatchdogServices } from '../services.js';
import { instant, sourceText } from './schemas.js';

const MANAGE = { scope: 'watchdog:manage' } as const;
const READ = [{ anyScope: ['watchdog:read', 'watchdog:manage'] }, { sharedKey: true }] as const;

const nullableText = joi.string().allow(null);
const nullableTime = instant.allow(null);

export const windowBody = withSchemaName(
  'MaintenanceCreation',
  joi
    .object({
      sources: joi.array().items(sourceText).max(MAX_WINDOW_SOURCES).description('Affected monitors'),
      subtree: sourceText.allow(null).description('An affected monitor with all its descendants'),
      reason: joi.string().max(500).allow(null, ''),
      from: joi.string().max(64).allow(null).description('RFC 3339; default: now'),
      until: joi.string().max(64).allow(null).description('RFC 3339, within a year'),
      schedule: joi
        .string()
        .max(200)
        .allow(null)
        .description('Instead of `from` and `until`: five cron fields, or a name such as `@daily`'),
      timezone: joi.string().max(64).allow(null).description('IANA time zone of the schedule; default: UTC'),
      duration_seconds: joi
        .number()
        .integer()
        .min(60)
        .max(MAX_REPEATED_SECONDS)
        .allow(null)
        .description('Length of each scheduled window'),
    })
    .example({ sources: ['web-1'], until: '2027-01-01T06:00:00Z', reason: 'New disks' }),
);

const COMMON_FIELDS = {
  id: joi.string(),
  sources: joi.array().items(joi.string()),
  subtree: nullableText,
  reason: nullableText,
  from: nullableTime,
  until: nullableTime,
  created_by: joi.string(),
  created_at: instant,
};
const windowSchema = withSchemaName(
  'MaintenanceWindow',
  whole({
    ...COMMON_FIELDS,
    schedule: nullableText,
    timezone: joi.string(),
    duration_seconds: joi.number().allow(null),
    open: joi.boolean(),
    open_until: nullableTime,
    next_from: nullableTime,
    next_until: nullableTime,
  }).keys({ managed: MANAGED_FIELD }),
);
const silenceBody = withSchemaName(
  'SilenceCreation',
  joi
    .object({
      sources: joi.array().items(sourceText).max(MAX_WINDOW_SOURCES).description('Silenced monitors'),
      subtree: sourceText.allow(null).description('A silenced monitor with all its descendants'),
      reason: joi.string().max(500).allow(null, ''),
      until: joi.string().max(64).required().description('RFC 3339, within a year'),
    })
    .example({ subtree: 'rack-3', until: '2027-01-01T06:00:00Z', reason: 'Being looked at' }),
);

const silenceSchema = withSchemaName('Silence', whole(COMMON_FIELDS));
const silenceAnswer = withSchemaName('SilenceAnswer', whole({ silence: silenceSchema }));
const silenceList = withSchemaName('SilenceList', whole({ items: joi.array().items(silenceSchema) }));

/** A silence starts at creation and does not repeat. */
function toSilenceAnswer({ id, sources, subtree, reason, from, until, created_by, created_at }: WindowView): object {
  return { id, sources, subtree, reason, from, until, created_by, created_at };
}

const windowAnswer = withSchemaName('MaintenanceAnswer', whole({ window: windowSchema }));
const windowList = withSchemaName('MaintenanceList', whole({ items: joi.array().items(windowSchema) }));

interface WindowRouteSpec {
  kind: WindowKind;
  path: string;
  operations: { list: string; create: string; end: string };
  summaries: { list: string; create: string; end: string };
  description: string;
  body: joi.Schema;
  answer: joi.Schema;
  list: joi.Schema;
  /** Key of the object in the response. */
  field: string;
  parse: (given: NewMaintenanceWindow) => NewMaintenanceWindow;
  view: (window: WindowView) => object;
}

const WINDOW_ROUTES: readonly WindowRouteSpec[] = [
  {
    kind: 'maintenance',
    path: '/api/watchdog/v1/maintenance',
    operations: { list: 'listMaintenance', create: 'createMaintenance', end: 'endMaintenance' },
    summaries: {
      list: 'List open and planned maintenance windows: open ones first, then by start',
      create: 'Put monitors into maintenance',
      end: 'End a maintenance window, or cancel a planned one',
    },
    description:
      'Once from a start to an end, or repeatedly with a cron expression and a length. While the window is open its monitors ' +
      'are in `maintenance`, and alarms are held: monitors that are still down at its end alarm then.',
    body: windowBody,
    answer: windowAnswer,
    list: windowList,
    field: 'window',
    parse: (given) => given,
    view: (made) => made,
  },
  {
    kind: 'silence',
    path: '/api/watchdog/v1/silences',
    operations: { list: 'listSilences', create: 'createSilence', end: 'endSilence' },
    summaries: {
      list: 'List active silences, by end',
      create: 'Silence alarms of monitors',
      end: 'End a silence; monitors that are still down alarm',
    },
    description:
      'From now until a time. The states of the monitors are still shown, also on public pages; an open alarm stays open, and one that ' +
      'would start is held: monitors that are still down at the end alarm then.',
    body: silenceBody,
    answer: silenceAnswer,
    list: silenceList,
    field: 'silence',
    parse: ({ sources = [], subtree = null, reason = null, until = null }) => ({ sources, subtree, reason, until }),
    view: toSilenceAnswer,
  },
];

export const buildMaintenanceRoutes = (services: WatchdogServices): RouteSpec[] =>
  WINDOW_ROUTES.flatMap((kind) => buildRoutes(kind, services));

function buildRoutes(
  { kind, path, operations, summaries, field, parse, view, ...shapes }: WindowRouteSpec,
  { windows, evaluator, audit }: WatchdogServices,
): RouteSpec[] {
  return [
    {
      method: 'GET',
      path,
      operationId: operations.list,
      summary: summaries.list,
      access: READ,
      strictQuery: true,
      output: shapes.list,
      handle: async ({ principal }) => ({ items: (await windows.list(toWatchdogCaller(principal), kind)).map(view) }),
    },
    {
      method: 'POST',
      path,
      operationId: operations.create,
      summary: summaries.create,
      description: shapes.description,
      access: MANAGE,
      strictQuery: true,
      input: { body: shapes.body },
      status: 201,
      output: shapes.answer,
      handle: async ({ body, principal }) => {
        const made = await windows.create(parse(body as NewMaintenanceWindow), toWatchdogCaller(principal), kind);
        await audit.record(principal, `${kind}.created`, made.id, { reason: made.reason ?? '' });
        return created({ [field]: view(made) });
      },
    },
    {
      method: 'DELETE',
      path: `${path}/{id}`,
      operationId: operations.end,
      errors: ['not_found'],
      summary: summaries.end,
      access: MANAGE,
      strictQuery: true,
      input: { params: joi.object({ id: joi.string().guid().required() }) },
      output: deleted,
      handle: async ({ params, principal }) => {
        const ended = await windows.remove(params['id'] ?? '', toWatchdogCaller(principal), kind);
        await audit.record(principal, `${kind}.ended`, ended.id, { reason: ended.reason ?? '' });
        // A run in progress may release the monitors instead.
        await evaluator.evaluate('http');
        return { deleted: true };
      },
    },
  ];
}
