import { inject, injectable } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { toIsoString, SECOND_MS } from '../../../lib/time.js';
import { ItemCloser } from '../builds/item-closer.js';
import { VersionFaultTracker } from '../builds/version-faults.js';
import { RateAlarmService } from '../muting/rate-alarms.js';
import { CombinedReportFilter } from '../muting/report-filters.js';
import { ItemOutbox } from '../store/item-outbox.js';
import type { CountResult, IncomingReport } from './incoming-report.js';
import { PayloadSampler } from './payload-sampler.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { DEPS, type BugsConfig } from '../deps.js';
import type { ItemDoc, TextsDoc } from '../item/model.js';
import { buildMarksUpdate } from '../item/place-marks.js';
import { getLevelRank, resolveErrorLocation } from '../item/first-document.js';
import { rebuildSearchText } from '../text/search-text.js';
import { countLastHour, rollUpDays, listStaleDays, listStalePaths } from '../item/occurrence-rate.js';
import { BlockingService } from '../store/blocking.js';
import { ClientRefService } from '../store/client-refs.js';
import { type ChangeSet, buildLevelUpdate } from '../item/change-set.js';
import { ItemService } from '../store/item-service.js';
import { getRateRank, toSeverity } from '../item/severity.js';
import { isFinished } from '../item/transitions.js';
import type { Collection } from '../../../ports/store/index.js';

/** Counts in progress during the first write return an item without the place. */
const PENDING_WRITES_LIMITS = { most: 10_000, ttlMs: 10 * SECOND_MS };

/** Before the report is acknowledged. */
@injectable()
export class OccurrencePlaceRecorder {
  readonly #adding = new BoundedMap<Promise<unknown>>(PENDING_WRITES_LIMITS);

  constructor(@inject(DEPS.items) private readonly items: Collection<ItemDoc>) {}

  isDue(doc: ItemDoc, { report }: IncomingReport): boolean {
    return buildMarksUpdate(doc, report) !== null;
  }

  async recordPlace(doc: ItemDoc, { report }: IncomingReport): Promise<void> {
    const push = buildMarksUpdate(doc, report);
    if (push === null) return;
    const key = `${doc.id} ${JSON.stringify(push)}`;
    const others = this.#adding.get(key);
    if (others !== undefined) {
      await others;
      return;
    }
    const adding = this.items.change({ id: doc.id }, { push });
    this.#adding.set(key, adding);
    try {
      await adding;
    } catch (error) {
      this.#adding.delete(key);
      throw error;
    }
  }
}

/** Repairs stale counters, dead references, a missing origin, blocked items and new places. */
@injectable()
export class ItemMaintenance {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
    @inject(ClientRefService) private readonly refs: ClientRefService,
    @inject(BlockingService) private readonly blocking: BlockingService,
    @inject(OccurrencePlaceRecorder) private readonly places: OccurrencePlaceRecorder,
  ) {}

  isDue(doc: ItemDoc, incoming: IncomingReport): boolean {
    const { now, adopted } = incoming;
    return (
      doc.relink_at !== undefined ||
      adopted ||
      this.places.isDue(doc, incoming) ||
      this.refs.isCrowded(doc) ||
      listStalePaths(doc.minutes, doc.hours, now).length > 0
    );
  }

  async run(doc: ItemDoc, incoming: IncomingReport): Promise<void> {
    const { now, report, adopted } = incoming;
    await this.places.recordPlace(doc, incoming);
    const stale = listStalePaths(doc.minutes, doc.hours, now);
    if (stale.length > 0) {
      const update = {
        unset: [...stale, ...listStaleDays(doc.days, now)],
        max: rollUpDays(doc.hours, doc.days, stale),
      };
      await this.items.change({ id: doc.id }, update);
    }
    await this.blocking.updateBlockedItems(doc);
    await this.refs.removeItemEntries(doc);
    if (!adopted) return;
    const { stack_trace = null } = report;
    const { file_path, line_no } = resolveErrorLocation(report);
    if (file_path !== null) {
      const search_text = rebuildSearchText(doc, { title: doc.title, file_path });
      // A concurrent title change leaves the file unsearchable.
      const known = await this.items.change({ id: doc.id, file_path: null }, { set: { file_path, line_no } });
      if (known !== null)
        await this.items.change({ id: doc.id, search_text: doc.search_text }, { set: { search_text } });
    }
    if (stack_trace !== null) await this.texts.change({ id: doc.id, stack_trace: null }, { set: { stack_trace } });
  }
}

/** By hourly rate or a higher error level (contract 20, severity). */
@injectable()
export class SeverityEscalator {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(DEPS.config) private readonly config: BugsConfig,
    @inject(ItemService) private readonly items: ItemService,
  ) {}

  /**
   * Never if it is locked (contract 20, escalation). Written last, so after a crash the next
   * occurrence escalates. Must be called only if `isDue`.
   */
  async escalate(doc: ItemDoc, incoming: IncomingReport): Promise<ItemDoc> {
    const item = await this.items.change(doc.id, 'system', (now, change) =>
      this.#planEscalation(now, change, incoming),
    );
    const level = getLevelRank(incoming.report);
    if (level <= item.level_rank) return item;
    const update = buildLevelUpdate(level, incoming.report.error_level ?? null);
    const raised = await this.itemRows.change({ id: item.id, level_rank: { lt: level } }, update);
    return raised?.doc ?? item;
  }

  isDue(item: ItemDoc, incoming: IncomingReport): boolean {
    if (getLevelRank(incoming.report) > item.level_rank) return true;
    if (item.severity_locked || isFinished(item.status) || item.severity_rank === 3) return false;
    return this.#computeRateRank(item, incoming) > item.severity_rank;
  }

  #computeRateRank(item: ItemDoc, { now }: IncomingReport): number {
    const { hour_high: high, hour_critical: critical } = this.config;
    return getRateRank(countLastHour(item.minutes, now), { high, critical });
  }

  #planEscalation(item: ItemDoc, change: ChangeSet, incoming: IncomingReport): void {
    if (item.severity_locked || isFinished(item.status)) return;
    const level = getLevelRank(incoming.report);
    const higher = level > item.level_rank;
    const rate = this.#computeRateRank(item, incoming);
    const target = Math.max(rate, higher ? level : 0);
    if (target <= item.severity_rank) return;
    if (higher) change.assign({ level_rank: level, error_level: incoming.report.error_level ?? null });
    change.setSeverity(toSeverity(target), rate >= target ? 'rate' : 'error_level');
  }
}

export interface FollowUpResult extends CountResult {
  sampled: boolean;
}

@injectable()
export class CountFollowUp {
  constructor(
    @inject(ItemOutbox) private readonly outbox: ItemOutbox,
    @inject(PayloadSampler) private readonly sampler: PayloadSampler,
    @inject(CombinedReportFilter) private readonly filters: CombinedReportFilter,
    @inject(ItemMaintenance) private readonly upkeep: ItemMaintenance,
    @inject(VersionFaultTracker) private readonly faults: VersionFaultTracker,
    @inject(SeverityEscalator) private readonly escalation: SeverityEscalator,
    @inject(RateAlarmService) private readonly alarms: RateAlarmService,
    @inject(ItemCloser) private readonly closing: ItemCloser,
  ) {}

  /** A repeat, or a count of a deleted item, has no consequences. */
  async run(counted: CountResult): Promise<FollowUpResult> {
    if (counted.outcome === 'repeated') return { ...counted, sampled: false };
    try {
      return await this.#applyConsequences(counted);
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'not_found')) throw error;
      return { ...counted, sampled: false };
    }
  }

  async #applyConsequences(counted: CountResult): Promise<FollowUpResult> {
    const { doc, outcome, regression, entries, incoming } = counted;
    const { report } = incoming;
    const { muted_by: mute = null } = report;
    // A promise costs more than the check.
    const work: Promise<unknown>[] = [];
    if (entries.length > 0) work.push(this.outbox.flush(doc, entries));
    if (this.upkeep.isDue(doc, incoming)) work.push(this.upkeep.run(doc, incoming));
    // A failed report is no hit.
    if (mute !== null) work.push(this.filters.recordHit(mute.rule_id, toIsoString(incoming.now)));
    const sampling = counted.sampled ?? this.sampler.sample(doc, incoming);
    if (sampling instanceof Promise) work.push(sampling);
    if (work.length > 0) await Promise.all(work);

    const begun = outcome === 'created' || regression;
    let item = doc;
    if (begun || item.public_fault !== undefined) item = await this.faults.recordSender(item, report, begun);
    if (this.escalation.isDue(item, incoming)) item = await this.escalation.escalate(item, incoming);
    if (mute !== null) item = await this.alarms.emitIfDue(item, mute);
    if (outcome === 'created' && item.build_key !== null) item = await this.closing.closeIfPublished(item);
    return { ...counted, doc: item, sampled: sampling instanceof Promise ? await sampling : sampling };
  }
}
