import { inject, injectable } from '../../kernel/contract/index.js';
import type {
  BugsApi,
  BatchReport,
  PublishedBuild,
  ReportResult,
  RecordOptions,
  Report,
  UserFeedback,
} from '../../ports/domain/bugs.js';
import type { ReleasePublished } from '../../ports/domain/releases.js';
import type { DomainEvent } from '../../ports/events.js';
import { ItemCloser } from './builds/item-closer.js';
import { PublishedBuildRepository } from './builds/published-builds.js';
import { DEPS } from './deps.js';
import { ItemService } from './store/item-service.js';
import { planUnmute } from './muting/muting-service.js';
import { FeedbackService } from './feedback/feedback.js';
import { ReportIntake, ReportBatchIntake } from './intake/intake.js';
import type { ReportMetrics } from './report-metrics.js';
import type { ItemDoc } from './item/model.js';
import type { Collection } from '../../ports/store/index.js';

const BATCH_SIZE = 200;

@injectable()
export class BugTrackerService implements BugsApi {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(DEPS.reports) private readonly reports: ReportMetrics,
    @inject(ReportIntake) private readonly intake: ReportIntake,
    @inject(ReportBatchIntake) private readonly lists: ReportBatchIntake,
    @inject(ItemService) private readonly items: ItemService,
    @inject(ItemCloser) private readonly builds: ItemCloser,
    @inject(PublishedBuildRepository) private readonly known: PublishedBuildRepository,
    @inject(FeedbackService) private readonly comments: FeedbackService,
  ) {}

  async record(report: Report, options?: RecordOptions): Promise<ReportResult> {
    const done = await this.intake.record(report, options);
    const linking = this.#handleRecorded(report, done);
    if (linking !== null) await linking;
    return done;
  }

  async recordAll(reports: readonly BatchReport[]): Promise<PromiseSettledResult<ReportResult>[]> {
    const results = await this.lists.recordAll(reports);
    const counted = results.map(async (result, i) => {
      if (result.status === 'rejected') throw result.reason;
      await this.#handleRecorded((reports[i] as BatchReport).report, result.value);
      return result.value;
    });
    return Promise.allSettled(counted);
  }

  /** Returns null if no feedback waits for the report. */
  #handleRecorded(report: Report, done: ReportResult): Promise<void> | null {
    this.reports.countRecorded(report, done);
    return this.comments.linkPending(report);
  }

  countRejection(source: Report['source']): void {
    this.reports.countRejection(source);
  }

  addFeedback(given: UserFeedback): Promise<boolean> {
    return this.comments.add(given);
  }

  async unmuteByRule(ruleId: string, signal?: AbortSignal): Promise<number> {
    let n = 0;
    for (;;) {
      signal?.throwIfAborted();
      const page = await this.itemRows.find({ filter: { muted_by_rule_id: ruleId }, limit: BATCH_SIZE });
      await Promise.all(page.items.map(({ id }) => this.#unmute(id, ruleId)));
      n += page.items.length;
      if (page.items.length < BATCH_SIZE) return n;
    }
  }

  async #unmute(id: string, ruleId: string): Promise<void> {
    await this.items.change(id, 'system', (item, change) => void planUnmute(item, change, ruleId));
  }

  recordRelease(project: string, release: PublishedBuild): Promise<string[]> {
    return this.builds.handlePublish(project, release);
  }

  async listRefs(ids: readonly string[]): Promise<string[]> {
    const refs = new Map<string, string>();
    for (let at = 0; at < ids.length; at += BATCH_SIZE) {
      const filter = { id: { in: ids.slice(at, at + BATCH_SIZE) } };
      for (const { id, ref } of (await this.itemRows.find({ filter, limit: BATCH_SIZE })).items) refs.set(id, ref);
    }
    return ids.flatMap((id) => refs.get(id) ?? []);
  }

  withdrawRelease(project: string, version: string): Promise<void> {
    return this.known.remove(project, version);
  }

  handleReleasePublished(event: DomainEvent<ReleasePublished>): Promise<void> {
    return this.builds.handlePublishEvent(event);
  }
}
