/**
 * Created at the start, so that a killed run is found and marked as aborted (contract 30, runs).
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { MAX_AHEAD_MS } from '../../../lib/clock-skew.js';
import type { RunCleanup, RunRecord, RunTrigger } from '../../../ports/domain/watchdog.js';
import type { Json, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { WatchdogCaller } from '../model/caller.js';
import { SourceVisibility } from '../tree/source-visibility.js';
import type { RunDoc } from '../model/documents.js';
import { findReadable, type ReadablePage } from '../../../ports/store/skipped-documents.js';
import type { Processes } from '../../../ports/processes.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';

/** Older runs make the evaluator unhealthy (contract 95, health). */
export const MAX_RUN_AGE_MS = 300_000;
export const MAX_RECORDED_CHANGES = 200;

export const NO_CLEANUP: RunCleanup = {
  ran: false,
  complete: true,
  samples: 0,
  rollups: 0,
  runs: 0,
  events: 0,
  duration_ms: 0,
};

export function toRunRecord({ id, fence: _fence, ...doc }: RunDoc): RunRecord {
  return { run_id: id, ...doc };
}

@injectable()
export class EvaluatorRunService {
  /** Monotonic time. */
  readonly #startedAt: number;

  constructor(
    @inject(DEPS.runs) private readonly runs: Collection<RunDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.processes) private readonly processes: Processes,
    @inject(SourceVisibility) private readonly visibility: SourceVisibility,
  ) {
    this.#startedAt = clock.monotonic();
  }

  /** Creates the record under the lease. An unfinished run belongs to a process that lost it. */
  async startRun(trigger: RunTrigger, fence: number): Promise<RunDoc> {
    const { runs, ids, clock, processes } = this;
    const { host } = await processes.getSelf();
    const run: RunDoc = {
      id: ids.uuid(),
      trigger,
      host,
      started_at: clock.iso(),
      finished_at: null,
      duration_ms: null,
      result: null,
      evaluated: 0,
      to_warning: 0,
      to_down: 0,
      alarms_emitted: 0,
      alarms_suppressed: 0,
      errors: 0,
      cleanup: NO_CLEANUP,
      changes: [],
      fence,
    };
    await runs.changeMany(
      { result: null, fence: { lt: fence } },
      { set: { result: 'aborted', finished_at: run.started_at } },
    );
    await runs.insert(run);
    return run;
  }

  /** @param duration in ms */
  async finishRun(run: RunDoc, result: 'ok' | 'error' | 'aborted', duration: number): Promise<RunRecord> {
    run.result = result;
    run.finished_at = this.clock.iso();
    run.duration_ms = Math.round(duration * 1000) / 1000;
    const { id, ...fields } = run;
    await this.runs.change({ id, result: null }, { set: fields as unknown as Record<string, Json> });
    return toRunRecord(run);
  }

  /** Lists newest first. A project token sees only changes of its own monitors. */
  async listPage(limit: number, after: string | null, caller: WatchdogCaller): Promise<ReadablePage<RunRecord>> {
    const page = await findReadable(this.runs, {
      filter: { result: { ne: null } },
      sort: [['started_at', 'desc']],
      limit,
      after,
    });
    const items = page.items.map(toRunRecord);
    return { ...page, items: caller.project === null ? items : await this.#limitToProject(caller.project, items) };
  }

  async #limitToProject(project: string, runs: readonly RunRecord[]): Promise<RunRecord[]> {
    const changes = runs.flatMap((run) => run.changes);
    const names = changes.flatMap(({ source, suppressed_by }) => [source, suppressed_by]);
    const projects = await this.visibility.findProjects(names);
    const owned = (source: string): boolean => projects.get(source) === project;
    return runs.map((run) => ({
      ...run,
      changes: run.changes
        .filter(({ source }) => owned(source))
        .map(({ source, from, to, suppressed_by: by }) => {
          const suppressed_by = by !== null && owned(by) ? by : null;
          return { source, from, to, suppressed_by };
        }),
    }));
  }

  /** Runs after the clock moved backwards. */
  async clampFutureTimes(now: string): Promise<void> {
    for (const field of ['started_at', 'finished_at']) {
      await this.runs.changeMany({ [field]: { gt: now } }, { set: { [field]: now } });
    }
  }

  countRuns(): Promise<number> {
    return this.runs.count({ result: { ne: null } });
  }

  /** `checks.evaluator` (contract 95, health); `ok` also right after start. */
  async getHealth(): Promise<{ ok: boolean; last_run_at: string | null; age_seconds: number | null }> {
    const { runs, clock } = this;
    const page = await runs.find({ filter: { result: 'ok' }, sort: [['finished_at', 'desc']], limit: 1 });
    const last = page.items[0]?.finished_at ?? null;
    const now = clock.now();
    const age = last === null ? null : now - Date.parse(last);
    const ahead = age !== null && age < -MAX_AHEAD_MS;
    return {
      ok: !ahead && ((age !== null && age <= MAX_RUN_AGE_MS) || clock.monotonic() - this.#startedAt <= MAX_RUN_AGE_MS),
      last_run_at: last,
      age_seconds: age === null ? null : Math.max(0, Math.floor(age / 1000)),
    };
  }
}
