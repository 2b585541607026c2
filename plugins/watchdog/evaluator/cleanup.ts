/** In bounded batches and within a time budget; the next run continues (contract 30, runs). */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { HOUR_MS, toIsoString } from '../../../lib/time.js';
import type { RunCleanup } from '../../../ports/domain/watchdog.js';
import type { Collection, Doc, Filter } from '../../../ports/store/index.js';
import { DEPS, type WatchdogConfig } from '../deps.js';
import { NO_CLEANUP } from './runs.js';
import type { Clock } from '../../../ports/clock.js';
import type { IncidentDoc } from '../model/incident.js';
import type {
  ChunkDoc,
  RollupDoc,
  TimelineDoc,
  RunDoc,
  OutageDoc,
  TimeMarkDoc,
  ChangeDoc,
} from '../model/documents.js';

const DAY_MS = 24 * HOUR_MS;
export const SAMPLE_RETENTION_MS = 14 * DAY_MS;
const RUN_RETENTION_MS = 14 * DAY_MS;
const INCIDENT_RETENTION_MS = 400 * DAY_MS;
/** More than four of the longest intervals: older gaps credit no monitor. */
const OUTAGE_RETENTION_MS = 5 * 366 * DAY_MS;
const BATCH_SIZE = 500;
const RUN_BUDGET_MS = 5_000;
const CLEANUP_MARK_ID = 'cleanup';

@injectable()
export class RetentionCleanup {
  constructor(
    @inject(DEPS.chunks) private readonly chunks: Collection<ChunkDoc>,
    @inject(DEPS.rollups) private readonly rollups: Collection<RollupDoc>,
    @inject(DEPS.timeline) private readonly timeline: Collection<TimelineDoc>,
    @inject(DEPS.runs) private readonly runs: Collection<RunDoc>,
    @inject(DEPS.outages) private readonly outages: Collection<OutageDoc>,
    @inject(DEPS.marks) private readonly marks: Collection<TimeMarkDoc>,
    @inject(DEPS.incidents) private readonly incidents: Collection<IncidentDoc>,
    @inject(DEPS.changes) private readonly changes: Collection<ChangeDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.config) private readonly config: WatchdogConfig,
    @inject(DEPS.isClockTrusted) private readonly isClockTrusted: () => Promise<boolean>,
  ) {}

  /**
   * Does nothing if the last complete cleanup is less than an hour old or the clock is not trusted.
   * @param check throws when the lease is lost
   */
  async run(check: () => void): Promise<RunCleanup> {
    const { marks, clock, isClockTrusted: clockBelieved } = this;
    const now = clock.now();
    const last = await marks.get(CLEANUP_MARK_ID);
    const age = last === null ? HOUR_MS : now - Date.parse(last.at);
    if ((age >= 0 && age < HOUR_MS) || !(await clockBelieved())) return NO_CLEANUP;
    const began = clock.monotonic();
    const done = await this.#sweep(now, () => {
      check();
      return clock.monotonic() - began < RUN_BUDGET_MS;
    });
    if (done.complete) await marks.change({ id: CLEANUP_MARK_ID }, { set: { at: toIsoString(now) } }, { upsert: true });
    return { ...done, duration_ms: Math.round(clock.monotonic() - began) };
  }

  async #sweep(now: number, more: () => boolean): Promise<RunCleanup> {
    const { chunks, rollups, runs, timeline, outages, incidents, changes, config } = this;
    const done: RunCleanup = { ...NO_CLEANUP, ran: true };
    const samples = now - SAMPLE_RETENTION_MS;
    const parts: [keyof RunCleanup | null, Pick<Collection<Doc>, 'remove'>, Filter][] = [
      ['samples', chunks, { to: { lt: samples } }],
      ['rollups', rollups, { hour: { lt: Math.floor(samples / HOUR_MS) } }],
      ['runs', runs, { started_at: { lt: toIsoString(now - RUN_RETENTION_MS) } }],
      ['events', timeline, { at: { lt: toIsoString(now - config.timeline_days * DAY_MS) } }],
      [null, incidents, { ended_at: { gt: '', lt: toIsoString(now - INCIDENT_RETENTION_MS) } }],
      [null, changes, { at: { lt: toIsoString(now - config.timeline_days * DAY_MS) } }],
      [null, outages, { to: { lt: toIsoString(now - OUTAGE_RETENTION_MS) } }],
    ];
    for (const [name, collection, filter] of parts) {
      for (let n = BATCH_SIZE; n === BATCH_SIZE;) {
        if (!more()) return { ...done, complete: false };
        n = await collection.remove(filter, BATCH_SIZE);
        if (name !== null) (done[name] as number) += n;
      }
    }
    return done;
  }
}
