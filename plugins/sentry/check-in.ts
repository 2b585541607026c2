import type { CheckIn } from '../../ports/domain/watchdog.js';
import { record, text, type Loose } from './values.js';

export const isCheckIn = (type: string): boolean => type === 'check_in';

const PHASES: Readonly<Record<string, CheckIn['phase']>> = { in_progress: 'start', ok: 'ok', error: 'error' };

const MINUTE = 60;
const DAY = 86_400;
const UNITS: Readonly<Record<string, number>> = {
  minute: MINUTE,
  hour: 3_600,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
  year: 365 * DAY,
};
const LONGEST_RUN = 64;
/** Five fields, or a word like `@daily`. Other text must not get into generated notes. */
const CRON = /^(?:@[a-z]{4,10}|[\w*,/?#-]{1,40}(?: +[\w*,/?#-]{1,40}){4})$/;

export function checkInOf(payload: Loose, project: string): CheckIn | null {
  const slug = text(payload['monitor_slug']);
  const phase = PHASES[text(payload['status']) ?? ''];
  if (slug === null || phase === undefined) return null;
  const seconds = payload['duration'];
  return {
    // One segment: characters that a source may not contain become `-`, as in Sentry's slugs.
    source: `${project}/${slug.trim().replaceAll(/[^A-Za-z0-9._-]/g, '-')}`,
    phase,
    run: (text(payload['check_in_id']) ?? '').replaceAll(/[^\w.:-]/g, '').slice(0, LONGEST_RUN),
    duration_ms: typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null,
    ...configOf(record(payload['monitor_config'])),
  };
}

/** Reads the schedule. Its margin for starts and its maximum run time are in minutes. */
function configOf(config: Loose | null): Pick<CheckIn, 'interval' | 'cron' | 'timezone' | 'margin' | 'max_run'> {
  const { timezone, checkin_margin, max_runtime } = config ?? {};
  const zone = text(timezone) ?? null;
  return {
    ...scheduleOf(record(config?.['schedule'])),
    timezone: zone,
    margin: secondsOf(checkin_margin),
    max_run: secondsOf(max_runtime),
  };
}

const secondsOf = (minutes: unknown): number | null =>
  typeof minutes === 'number' && minutes > 0 ? Math.min(minutes * MINUTE, UNITS['year'] ?? 0) : null;

function scheduleOf(schedule: Loose | null): Pick<CheckIn, 'interval' | 'cron'> {
  const { type, value, unit } = schedule ?? {};
  const seconds = UNITS[text(unit) ?? ''];
  if (type === 'interval' && typeof value === 'number' && value > 0 && seconds !== undefined) {
    return { interval: Math.min(value * seconds, UNITS['year'] ?? 0), cron: null };
  }
  const cron = type === 'crontab' ? text(value)?.trim() : undefined;
  return { interval: null, cron: cron !== undefined && CRON.test(cron) ? cron : null };
}
