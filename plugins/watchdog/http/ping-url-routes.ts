/**
 * The URL contains the token: ping URLs for cron, and Uptime Kuma's push URL (contract 30, beyond
 * the specification). Only `wd_live_` tokens are accepted; an unknown one is 404.
 */
import joi from 'joi';
import { withSchemaName, text, type HttpRequest, type RouteSpec } from '../../../kernel/contract/index.js';
import { invalidQuery, notFound } from '../../../kernel/errors.js';
import { toWatchdogCaller, type WatchdogCaller } from '../model/caller.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { parseHeartbeat, type HeartbeatBody } from '../heartbeat/heartbeat.js';
import type { Ping } from '../heartbeat/ping.js';
import { validateCron, CronInvalid } from '../model/cron.js';
import {
  DEFAULT_GRACE_SECONDS,
  MAX_GRACE_SECONDS,
  MAX_INTERVAL_SECONDS,
  MIN_INTERVAL_SECONDS,
} from '../model/timing.js';
import type { WatchdogServices } from '../services.js';

const SIGNAL_PATTERN = /^(fail|start|log|[0-9]{1,3})$/;
/** Bytes of a body that become the message. */
const MAX_MESSAGE_BYTES = 10 * 1024;
const RID_PATTERN = /^[\w.:-]{1,64}$/;

const createNotFoundError = (): Error => notFound('such ping URL');

interface PingSender {
  source: string;
  caller: WatchdogCaller;
}

/** @throws ServiceError not_found */
async function resolveSender({ authenticator, addresses }: WatchdogServices, secret: string): Promise<PingSender> {
  const principal = secret.startsWith('wd_live_') ? await authenticator.authenticateBearer(secret) : null;
  const imported = principal === null ? await addresses.findSource(secret) : null;
  if (imported !== null) {
    return { source: imported, caller: { name: 'imported address', token: null, project: null, source: imported } };
  }
  if (principal?.kind !== 'token' || principal.token_kind !== 'watchdog' || principal.source === null)
    throw createNotFoundError();
  if (!principal.scopes.includes('watchdog:ping')) throw createNotFoundError();
  return { source: principal.source, caller: toWatchdogCaller(principal) };
}

function readMessage({ body }: HttpRequest): string | null {
  if (!Buffer.isBuffer(body) || body.length === 0) return null;
  const head = body.subarray(0, MAX_MESSAGE_BYTES).toString('utf8');
  return cleanText(body.length >= MAX_MESSAGE_BYTES ? head.replace(/\ufffd{1,3}$/, '') : head);
}

const params = { token: joi.string().max(100).required() };
const ridSchema = joi.string().pattern(RID_PATTERN).message('must be 1 to 64 letters, digits, _ . : or -').empty('');
const timingFields = {
  interval: joi
    .number()
    .min(MIN_INTERVAL_SECONDS)
    .max(MAX_INTERVAL_SECONDS)
    .empty('')
    .description('Seconds between pings, for a monitor without an interval'),
  schedule: joi
    .string()
    .max(200)
    .empty('')
    .description('A cron expression for due pings, for a monitor without an interval; replaces another schedule'),
  timezone: joi.string().max(64).empty('').description('IANA time zone of the schedule; default: UTC'),
  period: joi
    .number()
    .min(1)
    .max(MAX_INTERVAL_SECONDS)
    .empty('')
    .description('Expected maximum seconds between pings, with `grace`; instead of an interval or a schedule'),
  grace: joi
    .number()
    .min(1)
    .max(MAX_GRACE_SECONDS)
    .empty('')
    .description('How late a ping may be, in seconds, with `schedule` or `period`'),
  max_run: joi.number().min(1).max(MAX_GRACE_SECONDS).empty('').description('Maximum run time in seconds'),
};

interface PingTimingQuery {
  interval?: number;
  schedule?: string;
  timezone?: string;
  period?: number;
  grace?: number;
  max_run?: number;
}

/**
 * Ignoring an invalid parameter would cause false or missing alarms.
 * @throws ServiceError invalid_request
 */
function parsePingTiming({ interval, schedule, timezone, period, grace, max_run }: PingTimingQuery): Omit<Ping, 'run'> {
  const kinds = Object.entries({ interval, period, schedule }).filter(([, value]) => value !== undefined);
  const [first, second] = kinds.map(([name]) => name);
  if (second !== undefined) throw invalidQuery({ [second]: `cannot be combined with ${first}` });
  if (timezone !== undefined && schedule === undefined)
    throw invalidQuery({ timezone: 'has no effect without schedule' });
  if (grace !== undefined && schedule === undefined && period === undefined)
    throw invalidQuery({ grace: 'has no effect without schedule or period' });
  const intervalFields = { interval: interval ?? null, maxRun: max_run ?? null };
  const grace_seconds = grace ?? DEFAULT_GRACE_SECONDS;
  if (period !== undefined)
    return { ...intervalFields, timing: { schedule: null, timezone: null, period_seconds: period, grace_seconds } };
  if (schedule === undefined) return intervalFields;
  const zone = timezone ?? 'UTC';
  try {
    validateCron(schedule, zone);
  } catch (error) {
    if (error instanceof CronInvalid) throw invalidQuery({ [error.field]: error.message });
    throw error;
  }
  return { ...intervalFields, timing: { schedule, timezone: zone, period_seconds: null, grace_seconds } };
}

interface PushQuery extends PingTimingQuery {
  status?: string[];
  msg?: string[];
  ping?: string[];
}

/** Rejecting a push would look like silence. */
const repeatable = joi.array().items(joi.string().allow(''));

interface PingQuery extends PingTimingQuery {
  rid?: string;
}

export function buildPingUrlRoutes(services: WatchdogServices): RouteSpec[] {
  return [...buildPingRoutes(services), buildPushRoute(services)];
}

function buildPingRoutes(services: WatchdogServices): RouteSpec[] {
  const { intake, timeline, beats } = services;
  const beat = async (
    sender: PingSender,
    { exit_code, ...body }: Omit<HeartbeatBody, 'source'> & { exit_code: number | null },
    ping: Ping,
  ): Promise<void> => {
    const heartbeat = parseHeartbeat({ source: sender.source, ...body }, MAX_MESSAGE_BYTES, true);
    await intake.recordHeartbeat({ ...heartbeat, exit_code }, sender.caller, ping);
    beats();
  };
  const handle = async (request: HttpRequest): Promise<object> => {
    const { token: secret = '', signal = '0' } = request.params;
    if (!SIGNAL_PATTERN.test(signal) || Number(signal) > 255) throw createNotFoundError();
    const sender = await resolveSender(services, secret);
    const { rid: run = '', ...timingQuery } = request.query as PingQuery;
    const ping: Ping = { run, ...parsePingTiming(timingQuery) };
    const message = readMessage(request);
    if (signal === 'start') await intake.recordRunStart(sender.source, sender.caller, ping);
    else if (signal === 'log') {
      await intake.ensureMonitor(sender.source, sender.caller, ping);
      await timeline.annotate({ source: sender.source, type: 'log', message }, sender.caller);
    } else if (/^0+$/.test(signal)) {
      await beat(sender, { status: 'ok', message, exit_code: request.params['signal'] === undefined ? null : 0 }, ping);
    } else {
      const exit_code = signal === 'fail' ? null : Number(signal);
      const why = exit_code === null ? null : `Exit code ${exit_code}`;
      await beat(sender, { status: 'error', message: message ?? why, exit_code }, ping);
    }
    return text('OK').header('cache-control', 'no-store');
  };
  const query = joi.object({
    rid: ridSchema.description('Pairs the start and the end of one of several concurrent runs'),
    ...timingFields,
  });
  const limits = { payload: 'raw', keptBytes: MAX_MESSAGE_BYTES } as const;
  return [
    {
      method: ['GET', 'POST'],
      path: '/ping/{token}',
      aliases: ['/ping/{token}/'],
      operationId: ['pingByGet', 'ping'],
      summary: 'Send a heartbeat of a cron job; the path contains its watchdog token',
      description: 'The body of a POST, at most its first 10 KiB, becomes the message.',
      access: 'public',
      input: { params: joi.object(params), query },
      strictQuery: true,
      limits,
      output: joi.string(),
      handle,
    },
    {
      method: ['GET', 'POST'],
      path: '/ping/{token}/{signal}',
      aliases: ['/ping/{token}/{signal}/'],
      operationId: ['pingWithOutcomeByGet', 'pingWithOutcome'],
      summary: 'Send a heartbeat with an outcome: `fail`, `start`, `log`, or an exit code from 0 to 255',
      description:
        '0 is ok; `fail` and any other exit code are `down` immediately. `start` changes no state; the time from it to the next end is the metric `duration_ms`. `log` only adds the body to the timeline.',
      access: 'public',
      input: { params: joi.object({ ...params, signal: joi.string().max(10).required() }), query },
      strictQuery: true,
      limits,
      output: joi.string(),
      handle,
    },
  ];
}

const buildPushRoute = (services: WatchdogServices): RouteSpec => ({
  method: ['GET', 'POST'],
  path: '/api/push/{token}',
  aliases: ['/api/push/{token}/'],
  tag: 'ping',
  operationId: ['pushByGet', 'push'],
  summary: 'Send a heartbeat with the push URL of Uptime Kuma',
  description: 'Every `status` except `up` is `down` immediately. `ping`, in milliseconds, is the metric `ping_ms`.',
  access: 'public',
  input: {
    params: joi.object(params),
    query: joi.object({
      status: repeatable.description('`up`, an empty value or no value mean up; every other value means down'),
      msg: repeatable,
      ping: repeatable,
      ...timingFields,
    }),
  },
  limits: { payload: 'raw', keptBytes: MAX_MESSAGE_BYTES },
  strictQuery: true,
  plain: true,
  output: withSchemaName('Pushed', joi.object({ ok: joi.boolean().required() })),
  handle: async (request) => {
    const sender = await resolveSender(services, request.params['token'] ?? '');
    const { status = [], msg, ping, ...timingQuery } = request.query as unknown as PushQuery;
    const [message = '', time = ''] = [msg?.[0], ping?.[0]];
    // An invalid time must not cost the heartbeat.
    const ms = time ? Number(time) : NaN;
    const metrics = Number.isFinite(ms) ? { ping_ms: ms } : null;
    const isUp = status.every((one) => ['', 'up'].includes(one.trim().toLowerCase()));
    const body = { source: sender.source, status: isUp ? 'up' : 'down', message: message || null, metrics };
    await services.intake.recordHeartbeat(parseHeartbeat(body, MAX_MESSAGE_BYTES, true), sender.caller, {
      run: null,
      ...parsePingTiming(timingQuery),
    });
    services.beats();
    return { ok: true };
  },
});
