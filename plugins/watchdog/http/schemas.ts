import joi from 'joi';
import {
  createPageSchema,
  MANAGED_FIELD,
  whole,
  withJsonSchema,
  withSchemaName,
} from '../../../kernel/contract/index.js';
import { MONITOR_SOURCE_PATTERN } from '../../../ports/domain/watchdog.js';
import { ACCEPTED_STATUSES } from '../heartbeat/heartbeat.js';
import { STATES } from '../model/documents.js';
import { MAX_INTERVAL_SECONDS, MIN_INTERVAL_SECONDS } from '../model/timing.js';
import { daysParam, uptimeOfDays } from './uptime-schemas.js';

const LEVELS = ['info', 'warning', 'error'];
const MAX_DATA_BYTES = 8 * 1024;

const level = withSchemaName('EventLevel', joi.string().valid(...LEVELS));
export const monitorState = withSchemaName('MonitorState', joi.string().valid(...STATES));

const state = monitorState;

export const sourceText = joi
  .string()
  .pattern(MONITOR_SOURCE_PATTERN)
  .message('must be 1 to 128 characters of A-Z a-z 0-9 . _ : @ / - without . or .. as a segment');
export const interval = joi.number().min(MIN_INTERVAL_SECONDS).max(MAX_INTERVAL_SECONDS).allow(null);
const text = joi.string().allow(null, '');

export const heartbeatBody = withSchemaName(
  'Heartbeat',
  joi
    .object({
      source: sourceText.required(),
      status: joi
        .string()
        .valid(...ACCEPTED_STATUSES)
        .allow(null)
        .description('Default: ok. `error` and its aliases are stored as warning unless watchdog.error_status_is_down'),
      interval: interval.description('Seconds; fractions allowed'),
      message: text.description('Truncated to 1,000 characters'),
      checks: joi.object().allow(null).description('name → {ok, message}; a failed check changes ok to a warning'),
      metrics: joi.object().allow(null).description('name → number; at most 64, names at most 64 characters'),
      app_version: text,
      instance_id: text.description(
        'Of the machine, as in its update checks and activations (`machine_id`); joins them to one machine',
      ),
      os: text,
    })
    .example({
      source: 'web-1',
      status: 'ok',
      interval: 60,
      checks: { database: { ok: true, message: '3 ms' } },
      metrics: { cpu: 12.5, disk: 71 },
      app_version: '1.4.1',
    }),
);

export const eventBody = withSchemaName(
  'TimelineEventCreation',
  joi
    .object({
      source: sourceText.required(),
      type: joi.string().min(1).max(64).required(),
      level: level,
      message: joi.string().max(1000).allow(null, ''),
      data: joi
        .any()
        .custom((value: unknown) => {
          if (Buffer.byteLength(JSON.stringify(value) ?? '') > MAX_DATA_BYTES) throw new Error('must be at most 8 KiB');
          return value;
        })
        .messages({ 'any.custom': '{{#error.message}}' }),
    })
    .example({ source: 'web-1', type: 'deploy', level: 'info', message: 'Deploying version 1.4.2' }),
);

/** A source or an id; longer text cannot exist. */
export const sourceParam = joi.object({ source: joi.string().max(200).required() });

export const instant = joi.string().isoDate();
/** The handler parses it: joi turns 30 February into 2 March. */
export const queryInstant = withJsonSchema({ format: 'date-time' }, joi.string().max(64));
const paging = {
  limit: withJsonSchema({ default: 50 }, joi.number().integer().min(1).max(200)),
  cursor: joi.string().max(20_000),
  include_total: joi.boolean(),
};
const buildListSchema = (schema: joi.Schema): joi.ArraySchema => joi.array().items(schema).max(50);
const sources = buildListSchema(joi.string().max(128));
const states = buildListSchema(state);

export const pageQuery = joi.object(paging);
export const eventsQuery = joi.object({
  source: joi.string().max(128),
  type: buildListSchema(joi.string().max(64)),
  level: buildListSchema(level),
  since: queryInstant,
  until: queryInstant,
  ...paging,
});
export const statusQuery = joi.object({
  source: sources,
  state: states,
  parent: joi.string().max(128),
  tree: joi.boolean().truthy('1').falsy('0'),
  uptime: daysParam.description('Number of days; adds `uptime` to each monitor'),
  limit: joi.number().integer().min(1).max(200),
  cursor: joi.string().max(500),
});
export const monitorsQuery = joi.object({
  source: sources,
  state: states,
  parent: joi.string().max(128),
  project: joi.string().max(64),
  tag: buildListSchema(joi.string().max(64)).description('Monitors with one of these tags'),
  q: joi.string().max(200).allow(''),
  ...paging,
});
export const metricsQuery = joi.object({
  source: joi.string().max(128).required(),
  metric: buildListSchema(joi.string().max(64)),
  hours: joi.number().greater(0).max(336),
  from: queryInstant,
  to: queryInstant,
  points: joi.number().integer().min(1).max(1000),
  resolution: joi.alternatives(joi.string().valid('auto'), joi.number().integer().min(1).max(86_400)),
});

const at = instant.allow(null);
const count = joi.number().integer().min(0);
const number = joi.number().allow(null);

export const heartbeatOutput = withSchemaName(
  'HeartbeatTaken',
  whole({
    source: joi.string(),
    state: state,
    previous_state: state.allow(null),
    changed: joi.boolean(),
    effective_interval_seconds: joi.number(),
    warn_after: instant,
    down_after: instant,
    server_time: instant,
    accepted_metrics: count,
    dropped_metrics: joi.array().items(joi.string()),
    warnings: joi.array().items(joi.string()),
  }),
);

export const monitor = withSchemaName(
  'Monitor',
  whole({
    id: joi.string(),
    source: joi.string(),
    name: joi.string(),
    parent_source: text,
    interval_seconds: number,
    schedule: text,
    timezone: text,
    period_seconds: number,
    grace_seconds: number,
    max_run_seconds: number,
    tags: joi.array().items(joi.string()),
    group: joi.boolean(),
    description: text,
    os: text,
    project: text,
    public: joi.boolean(),
    state: state,
    alarm: joi.string().valid('none', 'open', 'suppressed'),
    alarm_id: text,
    suppressed_by: text,
    last_heartbeat_at: at,
    last_status: text,
    message: text,
    checks: joi.object().unknown(),
    metrics_json: joi.object().unknown(),
    app_version: text,
    last_state_change_utc: instant,
    down_since_utc: at,
    maintenance: joi.object({ id: joi.string(), until: instant, reason: text }).allow(null),
    silence: joi.object({ id: joi.string(), until: instant, reason: text }).allow(null),
    created_at: instant,
    updated_at: instant.description('Last change of its settings or its state'),
  }).keys({
    probe: joi
      .object()
      .unknown()
      .allow(null)
      .description('In responses for one monitor: its active check, without secrets; null for none'),
    managed: MANAGED_FIELD,
    uptime: uptimeOfDays.allow(null).description('If `uptime` requested days; null if it was deleted meanwhile'),
  }),
);
export const monitorOutput = withSchemaName('MonitorAnswer', whole({ monitor }));
export const monitorPage = createPageSchema('MonitorPage', monitor);

export const timelineEvent = withSchemaName(
  'TimelineEvent',
  joi.object({
    id: joi.string().required(),
    source: joi.string().required(),
    kind: joi.string().valid('transition', 'annotation', 'alarm', 'suppression').required(),
    type: joi.string().required(),
    level: level.required(),
    from: state.allow(null),
    to: state.allow(null),
    message: text,
    data: joi.any(),
    alarm_id: text,
    suppressed_by: text,
    at: instant.required(),
  }),
);

export const runRecord = withSchemaName(
  'EvaluatorRun',
  joi.object({
    run_id: joi.string().required(),
    trigger: joi.string().valid('http', 'cli', 'scheduler').required(),
    host: joi.string().required(),
    started_at: instant.required(),
    finished_at: at,
    duration_ms: number,
    result: joi.string().valid('ok', 'error', 'aborted').allow(null),
    evaluated: count,
    to_warning: count,
    to_down: count,
    alarms_emitted: count,
    alarms_suppressed: count,
    errors: count,
    cleanup: joi.object().unknown(),
    changes: joi.array().items(joi.object({ source: joi.string(), from: state, to: state, suppressed_by: text })),
  }),
);

/** Has the id for joi's link and the name for the API description. */
const branch = withSchemaName(
  'MonitorBranch',
  whole({ source: joi.string(), state, children: joi.array().items(joi.link('#MonitorBranch')) }).id('MonitorBranch'),
);

export const statusOutput = withSchemaName(
  'MonitorStatus',
  joi.object({
    generated_at: instant.required().description('Time of the snapshot, which is at most 2 s old'),
    stale: joi.boolean().required().description('The evaluator is late'),
    counts: joi
      .object()
      .pattern(state, count)
      .required()
      .description('Counts of all matching monitors, including omitted ones'),
    truncated: joi.boolean().description('True if `monitors` is incomplete and no page was requested'),
    next_cursor: text.description('Cursor of the next page, if there is one or a page was requested'),
    has_more: joi.boolean().description('If a page was requested'),
    monitors: joi.array().items(monitor).required(),
    tree: joi.array().items(branch).description('With `tree=1`: monitors under their parents'),
    tree_left_out: count.description('Number of monitors omitted from the tree, if any'),
  }),
);

const point = withSchemaName(
  'MetricPoint',
  whole({ t: instant, avg: joi.number(), min: joi.number(), max: joi.number(), n: count }),
);
const metricHistory = withSchemaName(
  'MetricHistory',
  joi.object({
    latest: joi.object({ t: instant, v: joi.number() }),
    points: joi.array().items(point),
    baseline: joi.object({
      days: count,
      n: count,
      mean: number,
      stddev: number,
      min: number,
      max: number,
      sufficient: joi.boolean(),
    }),
    deviation: joi.object({
      value: joi.number(),
      absolute: number,
      ratio: number,
      percent: number,
      zscore: number,
      direction: joi.string().valid('above', 'below', 'equal'),
      significant: joi.boolean(),
      reason: joi.string(),
    }),
  }),
);
export const metricsOutput = withSchemaName(
  'MetricHistories',
  whole({
    source: joi.string(),
    from: instant,
    to: instant,
    bucket_seconds: count,
    metrics: joi.object().pattern(joi.string(), metricHistory),
  }),
);
export const runOutput = withSchemaName('RunAnswer', whole({ run: runRecord }));
export const runPage = createPageSchema('RunPage', runRecord);
export const eventOutput = withSchemaName('TimelineEventAnswer', whole({ event: timelineEvent }));
export const eventPage = createPageSchema('TimelinePage', timelineEvent);
