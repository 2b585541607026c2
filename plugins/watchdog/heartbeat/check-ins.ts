/**
 * Check-ins of scheduled jobs as heartbeats (contract 21, Sentry SDK intake). An intake key is public: what it makes is
 * counted for its project, it makes few, and it never moves a monitor that a token or a person made.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { invalid } from '../../../kernel/errors.js';
import { MONITOR_SOURCE, type CheckIn, type CheckInSender } from '../../../ports/domain/watchdog.js';
import type { Caller } from '../model/caller.js';
import { DEPS, type Deps } from '../deps.js';
import { idOf } from '../model/source.js';
import { MIN_INTERVAL_SECONDS } from '../model/timing.js';
import { Timeline } from '../timeline/timeline.js';
import { heartbeatOf } from './heartbeat.js';
import { HeartbeatIntake } from './intake.js';
import type { Ping } from './ping.js';

/** Monitors of a project that its intake keys may make. */
export const MOST_BY_INTAKE = 25;

@injectable()
export class MonitorCheckIns {
  constructor(
    @inject(DEPS) private readonly deps: Pick<Deps, 'monitors'>,
    @inject(HeartbeatIntake) private readonly intake: HeartbeatIntake,
    @inject(Timeline) private readonly timeline: Timeline,
  ) {}

  /** Resolves after the commit. @throws ServiceError insufficient_scope, validation_failed */
  async take({ source, phase, run, interval, cron, duration_ms }: CheckIn, sender: CheckInSender): Promise<void> {
    if (!MONITOR_SOURCE.test(source)) throw invalid({ monitor_slug: 'must be 1 to 100 letters, digits, - or _' });
    const caller = callerOf(sender);
    const isNew = cron !== null && (await this.deps.monitors.get(idOf(source))) === null;
    const ping: Ping = {
      run,
      interval: interval === null ? null : Math.max(MIN_INTERVAL_SECONDS, interval),
      replaces: true,
    };
    if (phase === 'start') await this.intake.start(source, caller, ping);
    else {
      const metrics = duration_ms === null ? null : { duration_ms };
      await this.intake.beat(heartbeatOf({ source, status: phase, metrics }, undefined, true), caller, ping);
    }
    if (isNew) await this.timeline.annotate(schedule(source, cron), caller);
  }
}

const schedule = (source: string, cron: string) => ({
  source,
  type: 'schedule',
  message: `The schedule ${cron} is not supported by this version: the interval is learned from the first two check-ins that went well`,
});

const callerOf = ({ name, project, token }: CheckInSender): Caller =>
  token === null
    ? { name, token: `intake ${project}`, project, source: null, most: MOST_BY_INTAKE }
    : { name, token, project, source: null };
