import { createHmac } from 'node:crypto';
import { inject, injectable, PORT, token, type Clock } from '../../../kernel/contract/index.js';
import { getOperatorNetwork } from '../../../lib/addresses.js';
import { correctSenderTime } from '../../../lib/sender-clock.js';
import { getVersionName } from '../../../lib/versions.js';
import { toSketchHash, type SketchHash } from '../../../lib/text/distinct-sketch.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { PROJECTS, type ProjectDirectory } from '../../../ports/domain/projects.js';
import type {
  SessionCounts,
  SessionEntry,
  SessionIntake,
  SessionReport,
  SessionSender,
} from '../../../ports/domain/release-health.js';
import { toHour, getMinute, toVersionKey } from '../model.js';
import { createEmptyDelta, mergeDelta, incrementDelta, type HourDelta } from './hour-delta.js';
import { HourCountWriter, type HourSeries } from './hour-count-writer.js';
import { SeriesLimiter } from './series-limiter.js';
import { SessionDeduplicator } from './session-deduplicator.js';

/** Key for hashing users and addresses. */
export const SKETCH_KEY = token<Buffer>('releasehealth.key');

/** Older sessions come from a wrong clock, or too late to matter. */
const MAX_SESSION_AGE_MS = 5 * DAY_MS;
/** Addresses are hashed to this many buckets; those in one bucket count as one reporter. */
const SENDER_BUCKETS = 64;
const COUNT_FIELDS = ['started', 'errored', 'crashed', 'abnormal'] as const;

@injectable()
export class SessionIntakeService implements SessionIntake {
  constructor(
    @inject(PROJECTS) private readonly projects: ProjectDirectory,
    @inject(SeriesLimiter) private readonly series: SeriesLimiter,
    @inject(HourCountWriter) private readonly hours: HourCountWriter,
    @inject(SessionDeduplicator) private readonly outcomes: SessionDeduplicator,
    @inject(SKETCH_KEY) private readonly key: Buffer,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  async record(report: SessionReport, sender: SessionSender): Promise<void> {
    await this.projects.requireAccepting(report.project, 'reports');
    const adding = new Map<string, { series: HourSeries; delta: HourDelta }>();
    for (const entry of report.entries) {
      const began = this.#getStartTime(entry, report.sent_at ?? null);
      if (began === null) continue;
      const series = await this.series.resolveSeries(
        {
          project: report.project,
          version: getVersionName(report.version),
          version_key: toVersionKey(report.version),
          environment: report.environment,
          hour: toHour(began),
        },
        !sender.intake,
      );
      const delta = await this.#buildDelta(report.project, entry, toIsoString(began), sender);
      const same = adding.get(series.id);
      if (same === undefined) adding.set(series.id, { series, delta });
      else mergeDelta(same.delta, delta);
    }
    try {
      await Promise.all([...adding.values()].map(({ series, delta }) => this.hours.add(series, delta)));
    } catch (error) {
      for (const { data: sessionData } of report.entries)
        if ('sid' in sessionData) this.outcomes.forget(report.project, sessionData);
      throw error;
    }
  }

  /** Returns milliseconds; null when it does not count, for example in the future. */
  #getStartTime({ started_at }: SessionEntry, sentAt: string | null): number | null {
    const now = this.clock.now();
    const corrected = correctSenderTime(started_at, sentAt, now);
    const began = corrected === null ? now : Math.min(Date.parse(corrected), now);
    return began < now - MAX_SESSION_AGE_MS ? null : began;
  }

  async #buildDelta(project: string, entry: SessionEntry, began: string, sender: SessionSender): Promise<HourDelta> {
    const { data: sessionData, user } = entry;
    const counts =
      'sid' in sessionData ? await this.outcomes.countUpdate(project, sessionData) : toSessionCounts(sessionData);
    const delta = createEmptyDelta();
    if (!sender.intake) delta.marks.add('vouched');
    for (const name of COUNT_FIELDS) incrementDelta(delta, name, counts[name] ?? 0);
    for (const name of ['started', 'crashed'] as const) {
      incrementDelta(delta, `minutes.${getMinute(began)}.${name}`, counts[name] ?? 0);
    }
    const crashes = (counts.crashed ?? 0) > 0;
    if (crashes) delta.marks.add(`crash_senders.${this.#getSenderBucket(project, sender)}`);
    const print = user === null ? null : this.#hashUser(project, user);
    if (print !== null) delta.people.push(print);
    if (print !== null && crashes) delta.crashed.push(print);
    return delta;
  }

  #hashUser(project: string, user: string): SketchHash {
    return toSketchHash(createHmac('sha256', this.key).update(`person ${project} ${user}`).digest());
  }

  #getSenderBucket(project: string, { intake, address }: SessionSender): string {
    if (!intake) return 'token';
    const text = `address ${project} ${getOperatorNetwork(address)}`;
    return `a${createHmac('sha256', this.key).update(text).digest().readUInt32BE(0) % SENDER_BUCKETS}`;
  }
}

const toSessionCounts = ({
  ok,
  errored,
  crashed,
  abnormal,
}: Exclude<SessionEntry['data'], { sid: string }>): SessionCounts => ({
  started: ok + errored + crashed + abnormal,
  errored,
  crashed,
  abnormal,
});
