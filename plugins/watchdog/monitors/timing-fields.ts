/**
 * An interval, a period with grace, or a schedule with grace (contract 30, amendments). Each
 * replaces the others, and fields without effect are rejected.
 */
import { invalid } from '../../../kernel/errors.js';
import type { MonitorFields } from '../../../ports/domain/watchdog.js';
import { validateCron, CronInvalid } from '../model/cron.js';
import type { MonitorDoc } from '../model/documents.js';
import { DEFAULT_GRACE_SECONDS } from '../model/timing.js';

type TimingInput = Pick<
  MonitorFields,
  'interval_seconds' | 'schedule' | 'period_seconds' | 'timezone' | 'grace_seconds' | 'max_run_seconds'
>;
type Timing = Pick<MonitorDoc, 'schedule' | 'timezone' | 'period_seconds' | 'grace_seconds'>;

const TIMING_KINDS = ['interval_seconds', 'period_seconds', 'schedule'] as const;

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function mergeTiming(given: TimingInput, doc: Timing | null): { schedule: string | null; period: number | null } {
  const named = TIMING_KINDS.find((kind) => isGiven(given[kind]));
  const stays = (kind: 'schedule' | 'period_seconds'): boolean => named === undefined && given[kind] !== null;
  return {
    schedule: given.schedule ?? (stays('schedule') ? (doc?.schedule ?? null) : null),
    period: given.period_seconds ?? (stays('period_seconds') ? (doc?.period_seconds ?? null) : null),
  };
}

/**
 * @param doc null on creation
 * @throws ServiceError validation_failed
 */
export function validateTiming(given: TimingInput, doc: Timing | null): void {
  const [first, second] = TIMING_KINDS.filter((kind) => isGiven(given[kind]));
  if (second !== undefined) throw invalid({ [second]: `cannot be combined with ${first}` });
  const { schedule, period } = mergeTiming(given, doc);
  if (isGiven(given.timezone) && schedule === null) throw invalid({ timezone: 'has no effect without a schedule' });
  if (isGiven(given.grace_seconds) && schedule === null && period === null)
    throw invalid({ grace_seconds: 'has no effect without a schedule or period_seconds' });
  if (schedule === null) return;
  const { timezone = doc?.timezone } = given;
  try {
    validateCron(schedule, timezone ?? 'UTC');
  } catch (error) {
    if (error instanceof CronInvalid) throw invalid({ [error.field]: error.message });
    throw error;
  }
}

export function toTimingFields(given: TimingInput, doc: MonitorDoc): Partial<MonitorDoc> {
  const { schedule, period } = mergeTiming(given, doc);
  const { timezone = doc.timezone, grace_seconds = doc.grace_seconds } = given;
  const isTimed = schedule !== null || period !== null;
  return {
    ...(isTimed && { interval_seconds: null, learns_interval: false }),
    ...((isTimed || isGiven(given.interval_seconds)) && doc.interval_learned === true && { interval_learned: false }),
    ...(isGiven(given.interval_seconds) && doc.interval_by_ping === true && { interval_by_ping: false }),
    schedule,
    timezone: schedule === null ? null : (timezone ?? 'UTC'),
    period_seconds: period,
    grace_seconds: isTimed ? (grace_seconds ?? DEFAULT_GRACE_SECONDS) : null,
  };
}
