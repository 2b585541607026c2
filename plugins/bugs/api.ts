import { inject, injectable } from '../../kernel/contract.js';
import type {
  BugsApi,
  ListedReport,
  PublishedBuild,
  Recorded,
  RecordOptions,
  Report,
  UserFeedback,
} from '../../ports/domain/bugs.js';
import type { ReleasePublished } from '../../ports/domain/releases.js';
import type { DomainEvent } from '../../ports/events.js';
import { Closing } from './builds/closing.js';
import { KnownBuilds } from './builds/known-builds.js';
import { DEPS, type BugDeps } from './deps.js';
import { Items } from './store/items.js';
import { planUnmute } from './muting/muting.js';
import { Feedback } from './feedback/feedback.js';
import { ReportIntake, ReportLists } from './intake/intake.js';

const BATCH_SIZE = 200;

@injectable()
export class Bugs implements BugsApi {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(ReportIntake) private readonly intake: ReportIntake,
    @inject(ReportLists) private readonly lists: ReportLists,
    @inject(Items) private readonly items: Items,
    @inject(Closing) private readonly builds: Closing,
    @inject(KnownBuilds) private readonly known: KnownBuilds,
    @inject(Feedback) private readonly comments: Feedback,
  ) {}

  async record(report: Report, options?: RecordOptions): Promise<Recorded> {
    const done = await this.intake.record(report, options);
    const linking = this.#counted(report, done);
    if (linking !== null) await linking;
    return done;
  }

  async recordAll(reports: readonly ListedReport[]): Promise<PromiseSettledResult<Recorded>[]> {
    const results = await this.lists.record(reports);
    const counted = results.map(async (result, i) => {
      if (result.status === 'rejected') throw result.reason;
      await this.#counted((reports[i] as ListedReport).report, result.value);
      return result.value;
    });
    return Promise.allSettled(counted);
  }

  /** Returns null when no pending feedback waits for the report. */
  #counted(report: Report, done: Recorded): Promise<void> | null {
    this.deps.reports.recorded(report, done);
    return this.comments.counted(report);
  }

  refused(source: Report['source']): void {
    this.deps.reports.refused(source);
  }

  feedback(given: UserFeedback): Promise<boolean> {
    return this.comments.add(given);
  }

  async unmuteRule(ruleId: string, signal?: AbortSignal): Promise<number> {
    let n = 0;
    for (;;) {
      signal?.throwIfAborted();
      const page = await this.deps.items.find({ filter: { muted_by_rule_id: ruleId }, limit: BATCH_SIZE });
      await Promise.all(page.items.map(({ id }) => this.#unmute(id, ruleId)));
      n += page.items.length;
      if (page.items.length < BATCH_SIZE) return n;
    }
  }

  async #unmute(id: string, ruleId: string): Promise<void> {
    await this.items.change(id, 'system', (item, change) => void planUnmute(item, change, ruleId));
  }

  releasePublished(project: string, release: PublishedBuild): Promise<string[]> {
    return this.builds.published(project, release);
  }

  async refsOf(ids: readonly string[]): Promise<string[]> {
    const refs = new Map<string, string>();
    for (let at = 0; at < ids.length; at += BATCH_SIZE) {
      const filter = { id: { in: ids.slice(at, at + BATCH_SIZE) } };
      for (const { id, ref } of (await this.deps.items.find({ filter, limit: BATCH_SIZE })).items) refs.set(id, ref);
    }
    return ids.flatMap((id) => refs.get(id) ?? []);
  }

  releaseWithdrawn(project: string, version: string): Promise<void> {
    return this.known.remove(project, version);
  }

  released(event: DomainEvent<ReleasePublished>): Promise<void> {
    return this.builds.onPublished(event);
  }
}
