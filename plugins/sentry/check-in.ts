import type { CheckIn } from '../../ports/domain/watchdog.js';
import { toRecord, toText, type UntypedRecord } from './untyped-values.js';

export const isCheckIn = (type: string): boolean => type === 'check_in';

const CHECK_IN_PHASES: Readonly<Record<string, CheckIn['phase']>> = { in_progress: 'start', ok: 'ok', error: 'error' };

const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;
const UNIT_SECONDS: Readonly<Record<string, number>> = {
  minute: MINUTE_SECONDS,
  hour: 3_600,
  day: DAY_SECONDS,
  week: 7 * DAY_SECONDS,
  month: 30 * DAY_SECONDS,
  year: 365 * DAY_SECONDS,
};
const MAX_RUN_ID_LENGTH = 64;
/** Five fields, or a word like `@daily`. Other text must not get into generated notes. */
const CRON_PATTERN = /^(?:@[a-z]{4,10}|[\w*,/?#-]{1,40}(?: +[\w*,/?#-]{1,40}){4})$/;

export function parseCheckIn(payload: UntypedRecord, project: string): CheckIn | null {
  const slug = toText(payload['monitor_slug']);
  const phase = CHECK_IN_PHASES[toText(payload['status']) ?? ''];
  if (slug === null || phase === undefined) return null;
  const seconds = payload['duration'];
  return {
    // Invalid characters become `-`, as in Sentry's slugs.
    source: `${project}/${slug.trim().replaceAll(/[^A-Za-z0-9._-]/g, '-')}`,
    phase,
    run: (toText(payload['check_in_id']) ?? '').replaceAll(/[^\w.:-]/g, '').slice(0, MAX_RUN_ID_LENGTH),
    duration_ms: typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null,
    ...parseMonitorConfig(toRecord(payload['monitor_config'])),
  };
}

/** Margin and maximum run time are in minutes. */
function parseMonitorConfig(
  config: UntypedRecord | null,
): Pick<CheckIn, 'interval' | 'cron' | 'timezone' | 'margin' | 'max_run'> {
  const { timezone, checkin_margin, max_runtime } = config ?? {};
  const zone = toText(timezone) ?? null;
  return {
    ...parseSchedule(toRecord(config?.['schedule'])),
    timezone: zone,
    margin: toSeconds(checkin_margin),
    max_run: toSeconds(max_runtime),
  };
}

const toSeconds = (minutes: unknown): number | null =>
  typeof minutes === 'number' && minutes > 0 ? Math.min(minutes * MINUTE_SECONDS, UNIT_SECONDS['year'] ?? 0) : null;

function parseSchedule(schedule: UntypedRecord | null): Pick<CheckIn, 'interval' | 'cron'> {
  const { type, value, unit } = schedule ?? {};
  const seconds = UNIT_SECONDS[toText(unit) ?? ''];
  if (type === 'interval' && typeof value === 'number' && value > 0 && seconds !== undefined) {
    return { interval: Math.min(value * seconds, UNIT_SECONDS['year'] ?? 0), cron: null };
  }
  const cron = type === 'crontab' ? toText(value)?.trim() : undefined;
  return { interval: null, cron: cron !== undefined && CRON_PATTERN.test(cron) ? cron : null };
}
