/** Names by which this plugin's services are bound in its container. */
export const DEPS = 'watchdog.deps';
export const ANCESTRY = 'watchdog.ancestry';
export const OUTBOX = 'watchdog.outbox';
export const TIMELINE = 'watchdog.timeline';
export const ALARMS = 'watchdog.alarms';
export const OUTAGES = 'watchdog.outages';
export const LEASE = 'watchdog.lease';
export const CLEANUP = 'watchdog.cleanup';
export const RUNS = 'watchdog.runs';
export const INTAKE = 'watchdog.intake';
export const MONITORS = 'watchdog.monitors';
export const SERIES = 'watchdog.series';
export const EVALUATOR = 'watchdog.evaluator';
export const HISTORY = 'watchdog.history';
export const STATUS = 'watchdog.status';
