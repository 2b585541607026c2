/**
 * A job's check-ins are heartbeats (contract 21, Sentry SDK intake). An intake key is public: it
 * creates few monitors per project, and never changes one that a token or a user created.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { MONITOR_SOURCE_PATTERN, type CheckIn, type CheckInSender } from '../../../ports/domain/watchdog.js';
import type { WatchdogCaller } from '../model/caller.js';
import { DEPS } from '../deps.js';
import { getMonitorId } from '../model/monitor-id.js';
import { validateCron, CronInvalid } from '../model/cron.js';
import { DEFAULT_GRACE_SECONDS, MIN_INTERVAL_SECONDS } from '../model/timing.js';
import { TimelineService } from '../timeline/timeline-service.js';
import { parseHeartbeat } from './heartbeat.js';
import { HeartbeatIntake } from './heartbeat-intake.js';
import type { Ping, PingTiming } from './ping.js';
import type { MonitorDoc } from '../model/documents.js';
import type { Collection } from '../../../ports/store/index.js';

/** Sentry's default for `max_runtime`. */
const DEFAULT_MAX_RUN_SECONDS = 1_800;
export const MAX_MONITORS_PER_INTAKE = 25;

@injectable()
export class MonitorCheckInService {
  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(HeartbeatIntake) private readonly intake: HeartbeatIntake,
    @inject(TimelineService) private readonly timeline: TimelineService,
  ) {}

  /**
   * Resolves after the commit.
   * @throws ServiceError insufficient_scope, validation_failed
   */
  async take(checkIn: CheckIn, sender: CheckInSender): Promise<void> {
    const { source, phase, run, interval, cron, duration_ms } = checkIn;
    if (!MONITOR_SOURCE_PATTERN.test(source))
      throw invalid({ monitor_slug: 'must be 1 to 100 letters, digits, - or _' });
    const caller = toCaller(sender);
    const timing = toPingTiming(checkIn);
    const isNew = cron !== null && timing === null && (await this.monitors.get(getMonitorId(source))) === null;
    const ping: Ping = {
      run,
      interval: interval === null || timing !== null ? null : Math.max(MIN_INTERVAL_SECONDS, interval),
      timing,
      maxRun: interval === null && cron === null ? null : (checkIn.max_run ?? DEFAULT_MAX_RUN_SECONDS),
      replaces: true,
    };
    if (phase === 'start') await this.intake.recordRunStart(source, caller, ping);
    else {
      const metrics = duration_ms === null ? null : { duration_ms };
      await this.intake.recordHeartbeat(
        parseHeartbeat({ source, status: phase, metrics }, undefined, true),
        caller,
        ping,
      );
    }
    if (isNew) await this.timeline.annotate(buildInvalidCronEntry(source, cron), caller);
  }
}

/** Returns null when the interval is given or learned. */
function toPingTiming({ cron, timezone, margin, interval }: CheckIn): PingTiming | null {
  const grace_seconds = Math.max(1, margin ?? DEFAULT_GRACE_SECONDS);
  if (interval !== null && margin !== null)
    return { schedule: null, timezone: null, period_seconds: Math.max(1, interval), grace_seconds };
  if (cron === null) return null;
  const zone = timezone ?? 'UTC';
  try {
    validateCron(cron, zone);
  } catch (error) {
    if (error instanceof CronInvalid) return null;
    throw error;
  }
  return { schedule: cron, timezone: zone, period_seconds: null, grace_seconds };
}

const buildInvalidCronEntry = (source: string, cron: string) => ({
  source,
  type: 'schedule',
  message: `The schedule ${cron} is not valid: the interval is derived from the first five successful check-ins`,
});

const toCaller = ({ name, project, token }: CheckInSender): WatchdogCaller =>
  token === null
    ? { name, token: `intake ${project}`, project, source: null, most: MAX_MONITORS_PER_INTAKE }
    : { name, token, project, source: null };
