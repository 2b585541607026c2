import { createHmac } from 'node:crypto';
import { inject, injectable, PORT, token, type Clock } from '../../../kernel/contract.js';
import { getOperatorNetwork } from '../../../lib/addresses.js';
import { correctSenderTime } from '../../../lib/clocks/sender-clock.js';
import { versionName } from '../../../lib/versions.js';
import { toPrint, type Print } from '../../../lib/text/distinct-sketch.js';
import { DAY_MS, isoOf } from '../../../lib/time.js';
import { PROJECTS, type ProjectDirectory } from '../../../ports/domain/projects.js';
import type {
  SessionCounts,
  SessionEntry,
  SessionIntake,
  SessionReport,
  SessionSender,
} from '../../../ports/domain/release-health.js';
import { hourOf, minuteOf, versionKey } from '../model.js';
import { emptyDelta, merge, raise, type Delta } from './delta.js';
import { HourCounts, type HourSeries } from './hour-counts.js';
import { SeriesBook } from './series-book.js';
import { SessionOutcomes } from './session-outcomes.js';

/** Key for hashing users and addresses. */
export const SKETCH_KEY = token<Buffer>('releasehealth.key');

/** Older sessions come from a wrong clock, or too late to matter. */
const OLDEST_MS = 5 * DAY_MS;
/** Addresses are hashed to this many buckets; those in one bucket count as one reporter. */
const SENDERS = 64;
const COUNTS = ['started', 'errored', 'crashed', 'abnormal'] as const;

@injectable()
export class HourIntake implements SessionIntake {
  constructor(
    @inject(PROJECTS) private readonly projects: ProjectDirectory,
    @inject(SeriesBook) private readonly series: SeriesBook,
    @inject(HourCounts) private readonly hours: HourCounts,
    @inject(SessionOutcomes) private readonly outcomes: SessionOutcomes,
    @inject(SKETCH_KEY) private readonly key: Buffer,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  async take(report: SessionReport, sender: SessionSender): Promise<void> {
    await this.projects.accepting(report.project, 'reports');
    const adding = new Map<string, { series: HourSeries; delta: Delta }>();
    for (const entry of report.entries) {
      const began = this.#began(entry, report.sent_at ?? null);
      if (began === null) continue;
      const series = await this.series.of(
        {
          project: report.project,
          version: versionName(report.version),
          version_key: versionKey(report.version),
          environment: report.environment,
          hour: hourOf(began),
        },
        !sender.intake,
      );
      const delta = await this.#deltaOf(report.project, entry, isoOf(began), sender);
      const same = adding.get(series.id);
      if (same === undefined) adding.set(series.id, { series, delta });
      else merge(same.delta, delta);
    }
    try {
      await Promise.all([...adding.values()].map(({ series, delta }) => this.hours.add(series, delta)));
    } catch (error) {
      for (const { told } of report.entries) if ('sid' in told) this.outcomes.forget(report.project, told);
      throw error;
    }
  }

  /** Returns milliseconds; null when it does not count, for example in the future. */
  #began({ started_at }: SessionEntry, sentAt: string | null): number | null {
    const now = this.clock.now();
    const corrected = correctSenderTime(started_at, sentAt, now);
    const began = corrected === null ? now : Math.min(Date.parse(corrected), now);
    return began < now - OLDEST_MS ? null : began;
  }

  async #deltaOf(project: string, entry: SessionEntry, began: string, sender: SessionSender): Promise<Delta> {
    const { told, user } = entry;
    const counts = 'sid' in told ? await this.outcomes.step(project, told) : totalsOf(told);
    const delta = emptyDelta();
    if (!sender.intake) delta.marks.add('vouched');
    for (const name of COUNTS) raise(delta, name, counts[name] ?? 0);
    for (const name of ['started', 'crashed'] as const) {
      raise(delta, `minutes.${minuteOf(began)}.${name}`, counts[name] ?? 0);
    }
    const crashes = (counts.crashed ?? 0) > 0;
    if (crashes) delta.marks.add(`crash_senders.${this.#senderOf(project, sender)}`);
    const print = user === null ? null : this.#printOf(project, user);
    if (print !== null) delta.people.push(print);
    if (print !== null && crashes) delta.crashed.push(print);
    return delta;
  }

  #printOf(project: string, user: string): Print {
    return toPrint(createHmac('sha256', this.key).update(`person ${project} ${user}`).digest());
  }

  #senderOf(project: string, { intake, address }: SessionSender): string {
    if (!intake) return 'token';
    const text = `address ${project} ${getOperatorNetwork(address)}`;
    return `a${createHmac('sha256', this.key).update(text).digest().readUInt32BE(0) % SENDERS}`;
  }
}

const totalsOf = ({
  ok,
  errored,
  crashed,
  abnormal,
}: Exclude<SessionEntry['told'], { sid: string }>): SessionCounts => ({
  started: ok + errored + crashed + abnormal,
  errored,
  crashed,
  abnormal,
});
