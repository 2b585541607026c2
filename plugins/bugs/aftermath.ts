/** What follows a count: a higher severity, the payload in its slot, stale counters and notes. None of it delays counting. */
import { inject, injectable } from '../../kernel/contract.js';
import { DEPS, ITEMS, REFS, type Deps } from './deps.js';
import type { Draft } from './draft.js';
import type { Arrival } from './arrival.js';
import type { Items } from './items.js';
import type { ItemDoc } from './model.js';
import { hourCount, rollUp, staleDays, stalePaths } from './rate.js';
import { pack, replacing } from './payload.js';
import { Recent } from './recent.js';
import type { Refs } from './refs.js';
import { levelRank, occurrenceOf } from './reported.js';
import { FIRST, RESERVOIR, slotOf, WINDOW_MS } from './sampling.js';
import { rankOfRate, severityOf } from './severity.js';
import type { ItemStatus } from '../../ports/domain/bugs.js';

/** What nobody works on any more is not raised by the reports of old installations. */
const RAISED: ReadonlySet<ItemStatus> = new Set<ItemStatus>(['open', 'in_progress', 'needs_info']);

/** Items whose window this process knows. */
const WINDOWS = 20_000;
/** Other processes count too, so what was known a minute ago is not. */
const WINDOW_KNOWN_MS = 60_000;

@injectable()
export class Aftermath {
  readonly #windows: Recent<{ n: number; from: number }>;

  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(ITEMS) private readonly items: Items,
    @inject(REFS) private readonly refs: Refs,
  ) {
    this.#windows = new Recent(WINDOWS, WINDOW_KNOWN_MS, () => deps.clock.monotonic());
  }

  /**
   * Contract 20, escalation: upwards only, never when locked. Answers the item as it is then. A higher level alone is no
   * revision; it is written last, so that a crash before it leaves the escalation to the next occurrence.
   */
  async escalate(doc: ItemDoc, arrival: Arrival): Promise<ItemDoc> {
    if (!this.#due(doc, arrival)) return doc;
    const item = await this.items.change(doc.id, 'system', (now, draft) => this.#plan(now, draft, arrival));
    const level = levelRank(arrival.report);
    if (level <= item.level_rank) return item;
    const set = { level_rank: level, error_level: arrival.report.error_level ?? null };
    const raised = await this.deps.items.change({ id: item.id, level_rank: { lt: level } }, { set });
    return raised?.doc ?? item;
  }

  #due(item: ItemDoc, arrival: Arrival): boolean {
    if (levelRank(arrival.report) > item.level_rank) return true;
    if (item.severity_locked || !RAISED.has(item.status) || item.severity_rank === 3) return false;
    return this.#rateRank(item, arrival) > item.severity_rank;
  }

  #rateRank(item: ItemDoc, { now }: Arrival): number {
    const { hour_high: high, hour_critical: critical } = this.deps.config;
    return rankOfRate(hourCount(item.minutes, now), { high, critical });
  }

  #plan(item: ItemDoc, draft: Draft, arrival: Arrival): void {
    if (item.severity_locked || !RAISED.has(item.status)) return;
    const level = levelRank(arrival.report);
    const higher = level > item.level_rank;
    const rate = this.#rateRank(item, arrival);
    const target = Math.max(rate, higher ? level : 0);
    if (target <= item.severity_rank) return;
    if (higher) draft.assign({ level_rank: level, error_level: arrival.report.error_level ?? null });
    draft.severity(severityOf(target), rate >= target ? 'rate' : 'error_level');
  }

  /**
   * The payload, kept beside the count instead of after it, so that both travel in one commit: the slot follows from how far
   * this process knows the item's window to be. Null where it does not know, or where the slot of one of the first 50 was
   * taken by another process meanwhile: then the exact count decides. Should the count not happen, a payload stands there
   * whose report was not acknowledged.
   */
  async ahead(itemId: string, arrival: Arrival): Promise<boolean | null> {
    const window = this.#windows.get(itemId);
    if (window === undefined || arrival.now - window.from > WINDOW_MS) return null;
    window.n += 1;
    const slot = slotOf(window.n, this.deps.random);
    if (window.n > FIRST + RESERVOIR || slot === null) return this.#keep(itemId, slot, arrival);
    const payload = await pack(occurrenceOf(arrival.report, itemId, slot, this.deps.ids.uuid(), arrival));
    const [written] = await this.deps.occurrences.bulk([{ insert: payload }]);
    return written !== undefined && 'n' in written ? true : null;
  }

  /** Keeps the payload if its turn comes; true when it was kept. */
  async sample(doc: ItemDoc, arrival: Arrival): Promise<boolean> {
    const n = await this.#position(doc, arrival.now);
    return this.#keep(doc.id, slotOf(n, this.deps.random), arrival);
  }

  /** Remembers how far the item's window is. */
  counted(doc: ItemDoc): void {
    this.#windows.set(doc.id, { n: doc.hit_count - doc.sample_base, from: Date.parse(doc.sample_from) });
  }

  async #keep(itemId: string, slot: number | null, arrival: Arrival): Promise<boolean> {
    if (slot === null) return false;
    const payload = await pack(occurrenceOf(arrival.report, itemId, slot, this.deps.ids.uuid(), arrival));
    const set = replacing(payload);
    // In bulk, because its answer does not bring the payload back.
    await this.deps.occurrences.bulk([{ change: { id: payload.id }, update: { set }, upsert: true }]);
    return true;
  }

  /** Which occurrence of the sampling window this is; after 30 days a new window begins. */
  async #position(doc: ItemDoc, now: number): Promise<number> {
    if (now - Date.parse(doc.sample_from) <= WINDOW_MS) return Math.max(1, doc.hit_count - doc.sample_base);
    const fresh = { sample_base: doc.hit_count - 1, sample_from: new Date(now).toISOString() };
    await this.deps.items.change({ id: doc.id, sample_from: doc.sample_from }, { set: fresh });
    return 1;
  }

  /** Keeps the hot document small, and completes an item whose origin has only now become known. */
  async tidy(doc: ItemDoc, { now, report, adopted }: Arrival): Promise<void> {
    const stale = stalePaths(doc.minutes, doc.hours, now);
    if (stale.length > 0) {
      const update = { unset: [...stale, ...staleDays(doc.days, now)], max: rollUp(doc.hours, doc.days, stale) };
      await this.deps.items.change({ id: doc.id }, update);
    }
    await this.refs.tidyItem(doc);
    if (!adopted) return;
    const { file_path = null, line_no = null, stack_trace = null } = report;
    if (file_path !== null)
      await this.deps.items.change({ id: doc.id, file_path: null }, { set: { file_path, line_no } });
    if (stack_trace !== null) await this.deps.texts.change({ id: doc.id, stack_trace: null }, { set: { stack_trace } });
  }
}
