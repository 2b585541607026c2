/**
 * The last step of the intake, before the answer: the consequences of a count. They are history and events, an
 * undecided payload, a rule's hit, a fault of a version, a higher severity, an alarm, a publish that came first.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { ServiceError } from '../../../kernel/errors.js';
import { isoOf, SECOND_MS } from '../../../lib/time.js';
import { Closing } from '../builds/closing.js';
import { Faults } from '../builds/version-faults.js';
import { Alarms } from '../muting/alarms.js';
import { ReportFilters } from '../muting/report-filters.js';
import { ItemOutbox } from '../store/item-outbox.js';
import type { Counted, IncomingReport } from './incoming-report.js';
import { PayloadSampler } from './payload-sampler.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { type BugDeps, DEPS } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { findAddedMarks } from '../item/place-marks.js';
import { getLevelRank, resolveErrorLocation } from '../item/first-document.js';
import { rebuildSearchText } from '../text/search-text.js';
import { countLastHour, rollUpDays, listStaleDays, listStalePaths } from '../item/rate.js';
import { Blocking } from '../store/blocking.js';
import { ClientRefs } from '../store/client-refs.js';
import { type ChangeSet, buildLevelUpdate } from '../item/change-set.js';
import { Items } from '../store/items.js';
import { getRateRank, toSeverity } from '../item/severity.js';
import { isFinished } from '../item/transitions.js';

/** Counts that were under way at the first one's write answer an item that lacks it still. */
const UNDER_WAY = { most: 10_000, ttlMs: 10 * SECOND_MS };

/**
 * Notes in an item that it was seen in a version or on a host for the first time, before the report is acknowledged.
 * The count answers the item, so a known place costs a look at it and nothing else.
 */
@injectable()
export class SeenPlaces {
  readonly #adding = new BoundedMap<Promise<unknown>>(UNDER_WAY);

  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'items'>) {}

  isDue(doc: ItemDoc, { report }: IncomingReport): boolean {
    return findAddedMarks(doc, report) !== null;
  }

  async note(doc: ItemDoc, { report }: IncomingReport): Promise<void> {
    const push = findAddedMarks(doc, report);
    if (push === null) return;
    const key = `${doc.id} ${JSON.stringify(push)}`;
    const others = this.#adding.get(key);
    if (others !== undefined) {
      await others;
      return;
    }
    const adding = this.deps.items.change({ id: doc.id }, { push });
    this.#adding.set(key, adding);
    try {
      await adding;
    } catch (error) {
      this.#adding.delete(key);
      throw error;
    }
  }
}

/**
 * Small repairs of an item behind a count: stale counters, references of dead processes, an origin that was unknown so
 * far, the items that it blocks again, a place where it was not seen before.
 */
@injectable()
export class ItemUpkeep {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(ClientRefs) private readonly refs: ClientRefs,
    @inject(Blocking) private readonly blocking: Blocking,
    @inject(SeenPlaces) private readonly places: SeenPlaces,
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

  /** Keeps the hot document small, and adds an origin that has only now become known. */
  async tidy(doc: ItemDoc, incoming: IncomingReport): Promise<void> {
    const { now, report, adopted } = incoming;
    await this.places.note(doc, incoming);
    const stale = listStalePaths(doc.minutes, doc.hours, now);
    if (stale.length > 0) {
      const update = {
        unset: [...stale, ...listStaleDays(doc.days, now)],
        max: rollUpDays(doc.hours, doc.days, stale),
      };
      await this.deps.items.change({ id: doc.id }, update);
    }
    await this.blocking.spread(doc);
    await this.refs.tidyItem(doc);
    if (!adopted) return;
    const { stack_trace = null } = report;
    const { file_path, line_no } = resolveErrorLocation(report);
    if (file_path !== null) {
      const search_text = rebuildSearchText(doc, { title: doc.title, file_path });
      // A title that somebody changes meanwhile is found by its words, the file then is not.
      const known = await this.deps.items.change({ id: doc.id, file_path: null }, { set: { file_path, line_no } });
      if (known !== null)
        await this.deps.items.change({ id: doc.id, search_text: doc.search_text }, { set: { search_text } });
    }
    if (stack_trace !== null) await this.deps.texts.change({ id: doc.id, stack_trace: null }, { set: { stack_trace } });
  }
}

/**
 * Raises an item's severity after a count, by the rate of the rolling hour or a higher error level (contract 20,
 * severity).
 */
@injectable()
export class Escalation {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Items) private readonly items: Items,
  ) {}

  /**
   * Contract 20, escalation: upwards only, never when locked. Answers the item as it is then. A higher level alone is
   * no revision; it is written last, so a crash before it leaves the escalation to the next occurrence. Call it when
   * `isDue`.
   */
  async escalate(doc: ItemDoc, incoming: IncomingReport): Promise<ItemDoc> {
    const item = await this.items.change(doc.id, 'system', (now, change) => this.#plan(now, change, incoming));
    const level = getLevelRank(incoming.report);
    if (level <= item.level_rank) return item;
    const update = buildLevelUpdate(level, incoming.report.error_level ?? null);
    const raised = await this.deps.items.change({ id: item.id, level_rank: { lt: level } }, update);
    return raised?.doc ?? item;
  }

  isDue(item: ItemDoc, incoming: IncomingReport): boolean {
    if (getLevelRank(incoming.report) > item.level_rank) return true;
    if (item.severity_locked || isFinished(item.status) || item.severity_rank === 3) return false;
    return this.#rateRank(item, incoming) > item.severity_rank;
  }

  #rateRank(item: ItemDoc, { now }: IncomingReport): number {
    const { hour_high: high, hour_critical: critical } = this.deps.config;
    return getRateRank(countLastHour(item.minutes, now), { high, critical });
  }

  #plan(item: ItemDoc, change: ChangeSet, incoming: IncomingReport): void {
    if (item.severity_locked || isFinished(item.status)) return;
    const level = getLevelRank(incoming.report);
    const higher = level > item.level_rank;
    const rate = this.#rateRank(item, incoming);
    const target = Math.max(rate, higher ? level : 0);
    if (target <= item.severity_rank) return;
    if (higher) change.assign({ level_rank: level, error_level: incoming.report.error_level ?? null });
    change.severity(toSeverity(target), rate >= target ? 'rate' : 'error_level');
  }
}

/** A report after its last step. */
export interface FollowedUp extends Counted {
  sampled: boolean;
}

@injectable()
export class FollowUp {
  constructor(
    @inject(ItemOutbox) private readonly outbox: ItemOutbox,
    @inject(PayloadSampler) private readonly sampler: PayloadSampler,
    @inject(ReportFilters) private readonly filters: ReportFilters,
    @inject(ItemUpkeep) private readonly upkeep: ItemUpkeep,
    @inject(Faults) private readonly faults: Faults,
    @inject(Escalation) private readonly escalation: Escalation,
    @inject(Alarms) private readonly alarms: Alarms,
    @inject(Closing) private readonly closing: Closing,
  ) {}

  /**
   * Carries out the consequences and answers the item as it is then. A repeat has none, nor has a count whose item was
   * deleted meanwhile: it is answered as it was counted.
   */
  async of(counted: Counted): Promise<FollowedUp> {
    if (counted.outcome === 'repeated') return { ...counted, sampled: false };
    try {
      return await this.#consequences(counted);
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'not_found')) throw error;
      return { ...counted, sampled: false };
    }
  }

  async #consequences(counted: Counted): Promise<FollowedUp> {
    const { doc, outcome, regression, entries, incoming } = counted;
    const { report } = incoming;
    const { muted_by: mute = null } = report;
    // Each consequence is checked before its call: most counts have none, and a promise costs more than the check.
    const work: Promise<unknown>[] = [];
    if (entries.length > 0) work.push(this.outbox.flush(doc, entries));
    if (this.upkeep.isDue(doc, incoming)) work.push(this.upkeep.tidy(doc, incoming));
    // The hit comes after the item has counted: a failed report is no hit.
    if (mute !== null) work.push(this.filters.hit(mute.rule_id, isoOf(incoming.now)));
    const sampling = counted.sampled ?? this.sampler.sample(doc, incoming);
    if (sampling instanceof Promise) work.push(sampling);
    if (work.length > 0) await Promise.all(work);

    const begun = outcome === 'created' || regression;
    let item = doc;
    if (begun || item.public_fault !== undefined) item = await this.faults.look(item, report, begun);
    if (this.escalation.isDue(item, incoming)) item = await this.escalation.escalate(item, incoming);
    if (mute !== null) item = await this.alarms.look(item, mute);
    if (outcome === 'created' && item.build_key !== null) item = await this.closing.closeIfPublished(item);
    return { ...counted, doc: item, sampled: sampling instanceof Promise ? await sampling : sampling };
  }
}
