/** What the routes of the watchdog take and answer (contract 30). Bodies are taken literally; unknown fields are dropped. */
import joi from 'joi';
import { ACCEPTED_STATUSES } from '../heartbeat/heartbeat.js';
import { MAX_STATUS } from '../monitors/status.js';
import { STATES } from '../model.js';
import { SOURCE } from '../monitors/source.js';
import { MAX_INTERVAL_SECONDS, MIN_INTERVAL_SECONDS } from '../monitors/timing.js';

const LEVELS = ['info', 'warning', 'error'];
const MAX_DATA = 8 * 1024;

const sourceText = joi
  .string()
  .pattern(SOURCE)
  .message('must be 1 to 128 characters of A-Z a-z 0-9 . _ : @ / - without . or .. as a segment');
const interval = joi.number().min(MIN_INTERVAL_SECONDS).max(MAX_INTERVAL_SECONDS).allow(null);
const text = joi.string().allow(null, '');

export const heartbeatBody = joi.object({
  source: sourceText.required(),
  status: joi
    .string()
    .valid(...ACCEPTED_STATUSES)
    .allow(null)
    .description('Absent: ok. `error` and its aliases are stored as warning unless watchdog.error_status_is_down'),
  interval: interval.description('Seconds; fractions allowed'),
  message: text.description('Cut to 1,000 characters'),
  checks: joi.object().allow(null).description('name → {ok, message}; a failed one makes ok a warning'),
  metrics: joi.object().allow(null).description('name → number; at most 64, names at most 64 characters'),
  app_version: text,
  os: text,
});

export const eventBody = joi.object({
  source: sourceText.required(),
  type: joi.string().min(1).max(64).required(),
  level: joi.string().valid(...LEVELS),
  message: joi.string().max(1000).allow(null, ''),
  data: joi
    .any()
    .custom((value: unknown) => {
      if (Buffer.byteLength(JSON.stringify(value) ?? '') > MAX_DATA) throw new Error('must be at most 8 KiB');
      return value;
    })
    .messages({ 'any.custom': '{{#error.message}}' }),
});

const fields = {
  name: joi.string().max(200).allow(null, ''),
  parent_source: sourceText.allow(null),
  interval_seconds: interval,
  description: joi.string().max(5000).allow(null, ''),
  os: joi.string().max(200).allow(null, ''),
  project: joi.string().max(64).allow(null),
  public: joi.boolean(),
};

export const monitorBody = joi.object({ source: sourceText.required(), ...fields });
export const editBody = joi.object(fields);

/** A source or an id; what fits neither cannot exist. */
export const sourceParam = joi.object({ source: joi.string().max(200).required() });

const instant = joi.string().isoDate();
const paging = {
  limit: joi.number().integer().min(1).max(200),
  cursor: joi.string().max(20_000),
  include_total: joi.boolean(),
};
const many = (schema: joi.Schema): joi.ArraySchema => joi.array().items(schema).max(50);
const sources = many(joi.string().max(128));
const states = many(joi.string().valid(...STATES));

export const pageQuery = joi.object(paging);
export const eventsQuery = joi.object({
  source: joi.string().max(128),
  type: many(joi.string().max(64)),
  level: many(joi.string().valid(...LEVELS)),
  since: instant,
  until: instant,
  ...paging,
});
export const statusQuery = joi.object({
  source: sources,
  state: states,
  parent: joi.string().max(128),
  tree: joi.boolean().truthy('1').falsy('0'),
  limit: joi.number().integer().min(1).max(MAX_STATUS),
  cursor: joi.string().max(500),
});
export const monitorsQuery = joi.object({
  source: sources,
  state: states,
  parent: joi.string().max(128),
  project: joi.string().max(64),
  q: joi.string().max(200).allow(''),
  ...paging,
});
export const metricsQuery = joi.object({
  source: joi.string().max(128).required(),
  metric: many(joi.string().max(64)),
  hours: joi.number().greater(0).max(336),
  from: instant,
  to: instant,
  points: joi.number().integer().min(1).max(1000),
  resolution: joi.alternatives(joi.string().valid('auto'), joi.number().integer().min(1).max(86_400)),
});

const at = instant.allow(null);
const state = joi.string().valid(...STATES);
const count = joi.number().integer().min(0);
const number = joi.number().allow(null);

export const heartbeatOutput = joi.object({
  source: joi.string().required(),
  state: state.required(),
  previous_state: state.allow(null).required(),
  changed: joi.boolean().required(),
  effective_interval_seconds: joi.number().required(),
  warn_after: instant.required(),
  down_after: instant.required(),
  server_time: instant.required(),
  accepted_metrics: count.required(),
  dropped_metrics: joi.array().items(joi.string()).required(),
  warnings: joi.array().items(joi.string()).required(),
});

export const monitor = joi.object({
  id: joi.string().required(),
  source: joi.string().required(),
  name: joi.string().required(),
  parent_source: text,
  interval_seconds: number,
  description: text,
  os: text,
  project: text,
  public: joi.boolean().required(),
  state: state.required(),
  alarm: joi.string().valid('none', 'open', 'suppressed').required(),
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
  created_at: instant,
  updated_at: instant,
});
export const monitorOutput = joi.object({ monitor });

export const listOf = (of: joi.Schema): joi.ObjectSchema =>
  joi.object({
    items: joi.array().items(of).required(),
    next_cursor: text.required(),
    has_more: joi.boolean().required(),
    total: count,
  });

export const timelineEvent = joi.object({
  id: joi.string().required(),
  source: joi.string().required(),
  kind: joi.string().valid('transition', 'annotation', 'alarm', 'suppression').required(),
  type: joi.string().required(),
  level: joi
    .string()
    .valid(...LEVELS)
    .required(),
  from: state.allow(null),
  to: state.allow(null),
  message: text,
  data: joi.any(),
  alarm_id: text,
  suppressed_by: text,
  at: instant.required(),
});

export const runRecord = joi.object({
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
});

const branch = joi
  .object({
    source: joi.string().required(),
    state: state.required(),
    children: joi.array().items(joi.link('#branch')).required(),
  })
  .id('branch');
export const statusOutput = joi.object({
  generated_at: instant.required().description('Of the snapshot, which is at most 2 s old'),
  stale: joi.boolean().required().description('The evaluator is late'),
  counts: joi.object().pattern(state, count).required().description('Of all that fit, also of those left out'),
  truncated: joi.boolean().description('True: there are more than `monitors` holds, and no page was asked for'),
  next_cursor: text.description('Of the next page, where there is one or a page was asked for'),
  has_more: joi.boolean().description('Where a page was asked for'),
  monitors: joi.array().items(monitor).required(),
  tree: joi.array().items(branch),
  tree_left_out: count.description('How many monitors the tree leaves out, where it does'),
});

const point = joi.object({ t: instant, avg: joi.number(), min: joi.number(), max: joi.number(), n: count });
const metricHistory = joi.object({
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
});
export const metricsOutput = joi.object({
  source: joi.string().required(),
  from: instant.required(),
  to: instant.required(),
  bucket_seconds: count.required(),
  metrics: joi.object().pattern(joi.string(), metricHistory).required(),
});
export const runOutput = joi.object({ run: runRecord });
export const eventOutput = joi.object({ event: timelineEvent });
export const deletedOutput = joi.object({ deleted: joi.boolean().valid(true) });
