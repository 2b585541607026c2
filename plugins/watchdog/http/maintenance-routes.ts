/** Maintenance windows and silences by the interface (contract 30, amendments). */
import joi from 'joi';
import { created, deleted, named, whole, type RouteSpec } from '../../../kernel/contract.js';
import { LONGEST_REPEATED_SECONDS, MOST_SOURCES, type NewWindow } from '../maintenance/windows.js';
import { callerOf } from '../model/caller.js';
import type { WindowView } from '../model/window.js';
import type { WatchdogServices } from '../services.js';
import { instant, sourceText } from './schemas.js';

const PATH = '/api/watchdog/v1/maintenance';
const SILENCES = '/api/watchdog/v1/silences';
const MANAGE = { scope: 'watchdog:manage' } as const;
const READ = [{ anyScope: ['watchdog:read', 'watchdog:manage'] }, { sharedKey: true }] as const;

const text = joi.string().allow(null);
const at = instant.allow(null);

export const windowBody = named(
  'MaintenanceCreation',
  joi
    .object({
      sources: joi.array().items(sourceText).max(MOST_SOURCES).description('Monitors that it is for'),
      subtree: sourceText.allow(null).description('A monitor that it is for, with everything below it'),
      reason: joi.string().max(500).allow(null, ''),
      from: joi.string().max(64).allow(null).description('RFC 3339; absent: now'),
      until: joi.string().max(64).allow(null).description('RFC 3339, within a year'),
      schedule: joi
        .string()
        .max(200)
        .allow(null)
        .description('In place of `from` and `until`: five cron fields, or a name such as `@daily`'),
      timezone: joi.string().max(64).allow(null).description('Of the schedule, IANA; absent: UTC'),
      duration_seconds: joi
        .number()
        .integer()
        .min(60)
        .max(LONGEST_REPEATED_SECONDS)
        .allow(null)
        .description('How long each of the schedule’s windows is'),
    })
    .example({ sources: ['web-1'], until: '2027-01-01T06:00:00Z', reason: 'New disks' }),
);

const COMMON_FIELDS = {
  id: joi.string(),
  sources: joi.array().items(joi.string()),
  subtree: text,
  reason: text,
  from: at,
  until: at,
  created_by: joi.string(),
  created_at: instant,
};
const window = named(
  'MaintenanceWindow',
  whole({
    ...COMMON_FIELDS,
    schedule: text,
    timezone: joi.string(),
    duration_seconds: joi.number().allow(null),
    open: joi.boolean(),
    open_until: at,
    next_from: at,
    next_until: at,
  }),
);
const silenceBody = named(
  'SilenceCreation',
  joi
    .object({
      sources: joi.array().items(sourceText).max(MOST_SOURCES).description('Monitors that are silenced'),
      subtree: sourceText.allow(null).description('A monitor that is silenced, with everything below it'),
      reason: joi.string().max(500).allow(null, ''),
      until: joi.string().max(64).required().description('RFC 3339, within a year'),
    })
    .example({ subtree: 'rack-3', until: '2027-01-01T06:00:00Z', reason: 'Being looked at' }),
);

const silence = named('Silence', whole(COMMON_FIELDS));
const silenceAnswer = named('SilenceAnswer', whole({ silence }));
const silenceList = named('SilenceList', whole({ items: joi.array().items(silence) }));

/** Without what a silence never has: it begins at its creation and does not repeat. */
function silenceView({ id, sources, subtree, reason, from, until, created_by, created_at }: WindowView): object {
  return { id, sources, subtree, reason, from, until, created_by, created_at };
}

const windowAnswer = named('MaintenanceAnswer', whole({ window }));
const windowList = named('MaintenanceList', whole({ items: joi.array().items(window) }));

export function maintenanceRoutes({ windows, evaluator, audit }: WatchdogServices): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: PATH,
      operationId: 'listMaintenance',
      summary: 'Maintenance windows that are open or planned: what is open first, then by when it opens',
      access: READ,
      strictQuery: true,
      output: windowList,
      handle: async ({ principal }) => ({ items: await windows.list(callerOf(principal)) }),
    },
    {
      method: 'POST',
      path: PATH,
      operationId: 'createMaintenance',
      summary: 'Put monitors into maintenance',
      description:
        'From a time to another, or again and again by a cron expression with a length. While the window is open its monitors ' +
        'are in `maintenance`, and alarms wait: whoever is still down when it ends alarms then.',
      access: MANAGE,
      strictQuery: true,
      input: { body: windowBody },
      status: 201,
      output: windowAnswer,
      handle: async ({ body, principal }) => {
        const made = await windows.create(body as NewWindow, callerOf(principal));
        await audit.record(principal, 'maintenance.created', made.id, { reason: made.reason ?? '' });
        return created({ window: made });
      },
    },
    {
      method: 'DELETE',
      path: `${PATH}/{id}`,
      operationId: 'endMaintenance',
      errors: ['not_found'],
      summary: 'End a maintenance window, or take a planned one back',
      access: MANAGE,
      strictQuery: true,
      input: { params: joi.object({ id: joi.string().guid().required() }) },
      output: deleted,
      handle: async ({ params, principal }) => {
        const ended = await windows.remove(params['id'] ?? '', callerOf(principal));
        await audit.record(principal, 'maintenance.ended', ended.id, { reason: ended.reason ?? '' });
        // Its monitors go on now. Where another run is under way, that one or the next takes them.
        await evaluator.evaluate('http');
        return { deleted: true };
      },
    },
    {
      method: 'GET',
      path: SILENCES,
      operationId: 'listSilences',
      summary: 'Silences that are open, by their end',
      access: READ,
      strictQuery: true,
      output: silenceList,
      handle: async ({ principal }) => ({
        items: (await windows.list(callerOf(principal), 'silence')).map(silenceView),
      }),
    },
    {
      method: 'POST',
      path: SILENCES,
      operationId: 'createSilence',
      summary: 'Hold alarms of monitors back',
      description:
        'From now until a time. The monitors go on to be shown as they are, on public pages too; an alarm that is open stays open, and one that ' +
        'would begin waits: whoever is still down at the end alarms then.',
      access: MANAGE,
      strictQuery: true,
      input: { body: silenceBody },
      status: 201,
      output: silenceAnswer,
      handle: async ({ body, principal }) => {
        const { sources, subtree, reason, until } = body as NewWindow;
        const given = {
          ...(sources && { sources }),
          subtree: subtree ?? null,
          reason: reason ?? null,
          until: until ?? null,
        };
        const made = await windows.create(given, callerOf(principal), 'silence');
        await audit.record(principal, 'silence.created', made.id, { reason: made.reason ?? '' });
        return created({ silence: silenceView(made) });
      },
    },
    {
      method: 'DELETE',
      path: `${SILENCES}/{id}`,
      operationId: 'endSilence',
      errors: ['not_found'],
      summary: 'End a silence; whoever is still down alarms',
      access: MANAGE,
      strictQuery: true,
      input: { params: joi.object({ id: joi.string().guid().required() }) },
      output: deleted,
      handle: async ({ params, principal }) => {
        const ended = await windows.remove(params['id'] ?? '', callerOf(principal), 'silence');
        await audit.record(principal, 'silence.ended', ended.id, { reason: ended.reason ?? '' });
        await evaluator.evaluate('http');
        return { deleted: true };
      },
    },
  ];
}
