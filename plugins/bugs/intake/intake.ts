/**
 * The one way in for reports of every kind: find the item, count, and do what the count leads to (contracts 20 and 21).
 *
 * The hot path, an occurrence of a known group, is one read by id (the key) and one small atomic write: the write's filter
 * names the item's `lane`, so it counts only where nothing else has to happen, and its answer carries all that the rules
 * after it need. Everything else (new, resolved, muted otherwise, duplicate) reads the item and decides.
 */
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { isoOf } from '../../../lib/time.js';
import { groupingOf } from '../grouping/key.js';
import { inject, injectable } from '../../../kernel/contract.js';
import { conflict } from '../../../kernel/errors.js';
import type { Mute, Recorded, Report } from '../../../ports/domain/bugs.js';
import { cleanReport } from '../text/clean.js';
import { counting } from './counting.js';
import { Alarms } from '../muting/alarms.js';
import { DEPS, type Deps } from '../deps.js';
import { hashOf } from '../item/hash-of.js';
import type { IncomingReport, Reference } from './incoming-report.js';
import { ChangeSet, laneOfReport, together } from '../item/change-set.js';
import { Items } from '../store/items.js';
import { Keys, met, type Decision, type Keyed } from '../groups/keys.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import type { ItemDoc, OutboxEntry, RefDoc } from '../item/model.js';
import { NewGroups } from './new-groups.js';
import { NewItems } from './new-items.js';
import { Outbox } from '../store/outbox.js';
import { overflowKeyed, overflowReport } from './overflow.js';
import { isOwn, ClientRefs } from '../store/client-refs.js';
import { scrubReport } from '../text/scrub.js';
import type { Moment } from '../item/first-document.js';
import { planOccurrence } from './occurrence.js';
import { Builds } from '../builds/closing.js';
import { Filters } from '../muting/filters.js';
import { KnownBuilds } from '../builds/known-builds.js';
import { Faults } from '../builds/version-faults.js';
import { Escalation } from './escalation.js';
import { ItemUpkeep } from './item-upkeep.js';
import { PayloadSampler } from './payload-sampler.js';
import { RecordedReport } from './recorded-report.js';
import { withoutNote, CountBatcher } from './count-batcher.js';

const ATTEMPTS = 100;
/** How often a report begins anew, because its item was deleted or another process has just made it. */
const BEGINNINGS = 20;

interface Counted {
  doc: ItemDoc;
  outcome: 'created' | 'counted' | 'repeated';
  /** This occurrence reopened the item. */
  regression: boolean;
  /** The outbox entries of this write. */
  entries: readonly OutboxEntry[];
  /** The payload was decided beside the count: kept or not. Null: it is still to be decided. */
  sampled: boolean | null;
}

/** What became of a report. */
interface Result {
  counted: Counted;
  incoming: IncomingReport;
}

/** Where a report is counted. */
interface Place extends Decision {
  /** By which key. */
  keyed: Keyed;
  /** The report for its item. */
  report: Report;
}

/** A public key moves the first sighting of an item no further back than payloads are kept. */
const OLDEST_PUBLIC_MS = 30 * 86_400_000;

const isPublic = ({ intake_key }: Report): boolean => typeof intake_key === 'string';

const quiet = (doc: ItemDoc, outcome: 'counted' | 'repeated'): Counted => ({
  doc,
  outcome,
  regression: false,
  entries: [],
  sampled: null,
});

const created = (doc: ItemDoc): Counted => ({
  doc,
  outcome: 'created',
  regression: false,
  entries: doc.outbox,
  sampled: null,
});

@injectable()
export class Intake {
  /** Decisions about unknown keys of one family, one after the other: of two new items one would only waste its number. */
  readonly #deciding = new KeyedMutex();

  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(Outbox) private readonly outbox: Outbox,
    @inject(Keys) private readonly keys: Keys,
    @inject(ClientRefs) private readonly refs: ClientRefs,
    @inject(Items) private readonly items: Items,
    @inject(Builds) private readonly builds: Builds,
    @inject(KnownBuilds) private readonly known: KnownBuilds,
    @inject(Filters) private readonly filters: Filters,
    @inject(Escalation) private readonly escalation: Escalation,
    @inject(PayloadSampler) private readonly sampler: PayloadSampler,
    @inject(ItemUpkeep) private readonly upkeep: ItemUpkeep,
    @inject(Alarms) private readonly alarms: Alarms,
    @inject(CountBatcher) private readonly counts: CountBatcher,
    @inject(NewGroups) private readonly newGroups: NewGroups,
    @inject(NewItems) private readonly newItems: NewItems,
    @inject(Faults) private readonly faults: Faults,
  ) {}

  /**
   * Groups, counts and stores one report; resolves after the commit.
   * @param options `texts`: the answered item carries its long texts (one more read); otherwise they are null
   * @throws ServiceError unknown_project
   */
  async record(given: Report, options: { texts?: boolean } = {}): Promise<Recorded> {
    const report = await this.#accepted(given);
    const keyed = { project: report.project, report, ...groupingOf(report, this.deps.grouping.masks) };
    for (let attempt = 0; attempt < BEGINNINGS; attempt++) {
      const done = await this.#recordOnce(report, keyed, options);
      if (done !== null) return done;
    }
    throw conflict('The item changes too often at the moment; send the report again.');
  }

  /** Null when it begins anew: its item has been deleted, and nothing leads there any more, or another process made it. */
  async #recordOnce(report: Report, keyed: Keyed, options: { texts?: boolean }): Promise<Recorded | null> {
    const refId = report.client_ref ? this.refs.idOf(report.project, report.client_ref, isPublic(report)) : null;
    // With transactions a reference that is new, as nearly all are, needs no look-up: its write is refused where it is not.
    const blind = refId !== null && this.deps.transact !== null && !this.refs.isMetLately(refId);
    const recent = this.keys.recent(report.project, keyed.dedup_key);
    const [known, early] =
      recent !== null && (refId === null || blind)
        ? [recent, null]
        : await Promise.all([
            recent ?? this.keys.known(report.project, keyed.dedup_key),
            refId === null || blind ? null : this.refs.find(refId),
          ]);
    const tried = blind && known !== null;
    const once = tried ? await this.#atOnce({ ...met(known), keyed, report }, report, refId) : null;
    if (once !== null) return this.#finished(once, report, options);
    const before = blind ? await this.refs.find(refId) : early;
    if (before?.open_at === null) {
      const repeated = await this.#repeat(before);
      return repeated && this.#answer(repeated, keyed.dedup_key, report, false, options);
    }
    const found = before?.item_id ?? known;
    const place = found === null ? await this.#first(keyed, report, refId) : { ...met(found), keyed, report };
    if (place !== null && !('counted' in place)) {
      const alone = tried || before !== null || refId === null ? null : await this.#atOnce(place, report, refId);
      const result = alone ?? (await this.#at(place, report, refId, before));
      return result && this.#finished(result, report, options);
    }
    return place && this.#finished(place, report, options);
  }

  async #finished({ counted, incoming }: Result, report: Report, options: { texts?: boolean }): Promise<Recorded> {
    const done = counted.outcome === 'repeated' ? { ...counted, sampled: false } : await this.#after(counted, incoming);
    return this.#answer(done, incoming.key, report, done.sampled, options);
  }

  /** The place of an unknown key, or its new item in one write; null when another process was faster. */
  async #first(keyed: Keyed, report: Report, refId: string | null): Promise<Place | Result | null> {
    const { project, bare_key } = keyed;
    if (this.deps.transact === null) return this.#place(keyed, report);
    return this.#deciding.run(hashOf(project, bare_key), async () => {
      const place = await this.#place(keyed, report);
      if (place.writes === undefined) return place;
      const incoming = this.#incoming(place, report, this.#unwritten(refId, project, place.item_id, true));
      const doc = await this.newItems.createWith(place.writes, place.item_id, incoming);
      return doc && { incoming, counted: { ...created(doc), sampled: true } };
    });
  }

  /** Counts with a reference that is new, in one transaction. Null: it was refused, or the store has none; nothing is written. */
  async #atOnce(place: Place, report: Report, refId: string): Promise<Result | null> {
    if (this.deps.transact === null) return null;
    const { item_id } = place;
    const incoming = this.#incoming(place, report, this.#unwritten(refId, report.project, item_id, false));
    const counted = await this.#countBlindly(item_id, incoming);
    return counted && { counted, incoming };
  }

  /** Counts where the report belongs; null when that item was deleted. */
  async #at(place: Place, report: Report, refId: string | null, before: RefDoc | null): Promise<Result | null> {
    const { project } = report;
    const bound =
      refId === null
        ? null
        : before !== null
          ? { ref: before, mine: false }
          : await this.refs.bind(refId, project, place.item_id);
    const id = bound?.ref.item_id ?? place.item_id;
    const incoming = this.#incoming(place, report, bound && { id: bound.ref.id, helper: !bound.mine });
    incoming.fresh &&= id === place.item_id;
    const counted = await this.#count(id, incoming);
    if (counted !== null) return { counted, incoming };
    await this.keys.release(place.keyed, id);
    if (bound !== null) await this.refs.release(bound.ref.id, id);
    return null;
  }

  #unwritten(refId: string | null, project: string, itemId: string, own: boolean): Reference | null {
    return refId === null
      ? null
      : { id: refId, helper: false, unwritten: this.refs.finished(refId, project, itemId, own) };
  }

  #incoming(place: Place, report: Report, ref: Reference | null): IncomingReport {
    const { keyed, adopted, flooded, fresh } = place;
    const { now, occurred } = this.#moment(report);
    return {
      now,
      occurred,
      report: place.report,
      payload: report,
      key: keyed.dedup_key,
      adopted,
      flooded,
      fresh,
      ref,
    };
  }

  /** The report as it will be stored, with what mutes it. @throws ServiceError unknown_project */
  async #accepted(given: Report): Promise<Report> {
    const scrubbed = scrubReport(cleanReport(given));
    await this.deps.projects.accepting(scrubbed.project, 'reports');
    // Judged as it will be stored, so that a rule made from what a page shows finds it again.
    const mute = given.muted_by === undefined ? await this.#ignored(scrubbed) : given.muted_by;
    return mute === null ? scrubbed : { ...scrubbed, muted_by: mute };
  }

  /** The item of an unknown key; the project's overflow item when the report's intake key may make no more. */
  async #place(keyed: Keyed, report: Report): Promise<Place> {
    const { intake_key: key = null } = report;
    const decision = await this.keys.decide(keyed, () => key === null || this.newGroups.take(key));
    if (decision !== null) return { ...decision, keyed, report };
    const { project } = report;
    const overflow = overflowKeyed(project);
    const known = await this.keys.known(project, overflow.dedup_key);
    const made = known === null ? await this.keys.decide(overflow) : met(known);
    if (made === null) throw conflict('The report could not be placed; send it again.');
    return { ...made, keyed: overflow, report: overflowReport(report) };
  }

  /** The rule that mutes the report; asks the rules' cache, which reads no store where no rule fits. */
  #ignored(report: Report): Mute | null | Promise<Mute | null> {
    if (report.type !== 'error') return null;
    return this.filters.match(report);
  }

  #moment(report: Report): Moment {
    const now = this.deps.clock.now();
    if (typeof report.occurred_at !== 'string') return { now, occurred: now };
    const occurred = Date.parse(report.occurred_at);
    if (Number.isNaN(occurred)) return { now, occurred: now };
    return { now, occurred: Math.min(Math.max(occurred, isPublic(report) ? now - OLDEST_PUBLIC_MS : occurred), now) };
  }

  /** Null when the item was deleted. */
  async #count(firstId: string, incoming: IncomingReport): Promise<Counted | null> {
    const passed = new Set<string>();
    let id = firstId;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const blind = await this.#countBlindly(id, incoming);
      if (blind !== null) return blind;
      const item = await this.deps.items.get(id);
      if (item === null) {
        if (!incoming.fresh && (await this.#isDeleted(id))) return null;
        const doc = await this.newItems.create(id, incoming);
        if (doc !== null) return created(doc);
        continue;
      }
      if (incoming.ref !== null && (await this.#isCounted(item, incoming.ref))) return quiet(item, 'repeated');
      passed.add(id);
      const target = item.status === 'duplicate' ? item.duplicate_of : null;
      if (target !== null && !passed.has(target) && (await this.deps.items.get(target)) !== null) {
        if (incoming.ref !== null) await this.refs.rebind(incoming.ref.id, id, target);
        id = target;
        continue;
      }
      const seen = await this.#countSeen(item, incoming);
      if (seen !== null) return seen;
    }
    throw conflict('The item changes too often at the moment; send the report again.');
  }

  /** One write for the occurrence of an item that nothing else has to happen to; null when that is not so. */
  async #countBlindly(id: string, incoming: IncomingReport): Promise<Counted | null> {
    if (incoming.ref?.helper === true) return null;
    const lane = laneOfReport(incoming.report.muted_by?.rule_id);
    if (incoming.ref?.unwritten !== undefined) return this.#countWithRef(id, lane, incoming);
    const ahead = this.sampler.ahead(id, incoming);
    const [doc, sampled] = await Promise.all([this.counts.count(id, lane, incoming), ahead]);
    if (doc === null) return null;
    this.sampler.counted(doc);
    return { ...quiet(doc, 'counted'), sampled };
  }

  /** The payload goes with the count: of a repeat, which is refused, it is not kept. */
  async #countWithRef(id: string, lane: string, incoming: IncomingReport): Promise<Counted | null> {
    const kept = this.sampler.planned(id, incoming);
    const doc = await this.counts.count(id, lane, incoming, kept);
    if (doc === null) return null;
    this.sampler.counted(doc);
    return { ...quiet(doc, 'counted'), sampled: kept === undefined ? null : kept !== null };
  }

  /** Counts on the state that was read, with what follows from it; null when the item changed meanwhile. */
  async #countSeen(item: ItemDoc, incoming: IncomingReport): Promise<Counted | null> {
    const published = await this.known.matching(item.project, [item.resolved_in_build]);
    return this.watermark.write(item.id, async (stamp) => {
      const change = new ChangeSet(item, 'system', stamp, this.deps.ids);
      const { late, regression } = planOccurrence(change, incoming, published);
      if (regression) change.assign(this.faults.begun(item, incoming.report));
      const count = counting(incoming, stamp, this.refs.takeNotes(item.id), late);
      const update = change.empty ? count : together(count, change.update());
      // A helper may count only if no other call has counted since it looked: see client-refs.ts.
      const same = incoming.ref?.helper === true ? { hit_count: item.hit_count } : {};
      const changed = await this.deps.items.change(
        { id: item.id, rev: item.rev, ...same, ...withoutNote(incoming) },
        update,
      );
      if (changed === null) return null;
      return { doc: changed.doc, outcome: 'counted' as const, regression, entries: change.written, sampled: null };
    });
  }

  /** The reference is noted in the item, or was finished meanwhile. */
  async #isCounted(item: ItemDoc, ref: { id: string; helper: boolean }): Promise<boolean> {
    if (item.inflight[ref.id] !== undefined) return true;
    return ref.helper && (await this.refs.find(ref.id))?.open_at === null;
  }

  /** What the count leads to: history and events, a higher severity, the payload, a publish that came first. */
  async #after(counted: Counted, incoming: IncomingReport): Promise<Counted & { sampled: boolean }> {
    let { doc } = counted;
    const { ref } = incoming;
    if (ref !== null && ref.unwritten === undefined) {
      const own = counted.outcome === 'created' || isOwn(doc, ref.id);
      this.refs.finish({ id: ref.id, project: doc.project, item_id: doc.id, own, helped: ref.helper });
    }
    if (counted.outcome === 'created') this.sampler.counted(doc);
    const { muted_by = null } = incoming.report;
    const begun = counted.outcome === 'created' || counted.regression;
    // Each is asked first: of most counts nothing else has to follow, and a promise costs more than the question.
    const work: Promise<unknown>[] = [];
    if (counted.entries.length > 0) work.push(this.outbox.flush(doc, counted.entries));
    if (this.upkeep.isDue(doc, incoming)) work.push(this.upkeep.tidy(doc, incoming));
    // After the item has counted it: a report that fails is no hit.
    if (muted_by !== null) work.push(this.filters.hit(muted_by.rule_id, isoOf(incoming.now)));
    const sampling = counted.sampled === null ? this.sampler.sample(doc, incoming) : null;
    if (sampling !== null) work.push(sampling);
    if (work.length > 0) await Promise.all(work);
    const sampled = sampling === null ? counted.sampled === true : await sampling;
    if (begun || doc.lone_fault !== undefined) doc = await this.faults.look(doc, incoming.report, begun);
    if (this.escalation.isDue(doc, incoming)) doc = await this.escalation.escalate(doc, incoming);
    if (muted_by !== null) doc = await this.alarms.look(doc, muted_by);
    if (counted.outcome === 'created' && doc.build_key !== null) doc = await this.builds.settle(doc);
    return { ...counted, doc, sampled };
  }

  async #isDeleted(id: string): Promise<boolean> {
    return (await this.deps.removals.get(id)) !== null;
  }

  /** A known reference: nothing is counted. Null when its item was deleted, and the reference with it. */
  async #repeat({ id, item_id }: RefDoc): Promise<Counted | null> {
    const doc = await this.deps.items.get(item_id);
    if (doc !== null) return quiet(doc, 'repeated');
    if (!(await this.#isDeleted(item_id)))
      throw conflict('The report with this client_ref is being stored; try again.');
    await this.refs.release(id, item_id);
    return null;
  }

  #answer(
    { doc, outcome, regression }: Counted,
    dedup_key: string,
    report: Report,
    sampled: boolean,
    options: { texts?: boolean },
  ): Recorded | Promise<Recorded> {
    const now = this.deps.clock.now();
    const ignored_by = report.muted_by?.rule_id ?? null;
    const occurred = { outcome, dedup_key, regression, sampled, title: report.title, ignored_by };
    if (options.texts !== true) return new RecordedReport(doc, occurred, now, null);
    return this.items.view(doc).then((whole) => new RecordedReport(doc, occurred, now, whole));
  }
}
