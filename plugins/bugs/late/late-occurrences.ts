/**
 * Kept occurrences whose frames are rewritten after they were counted (ports/domain/late-frames.ts).
 *
 * Order: the grouping key of the rewritten frames → the item's own place and trace, where the occurrence is its first →
 * the occurrence, which is no longer due from then on. Each step may be repeated, so a crash leaves the occurrence to
 * the next run.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { isoOf } from '../../../lib/time.js';
import type { LateOccurrence, LateOccurrences, RewrittenOccurrence } from '../../../ports/domain/frames.js';
import { SYSTEM_CALLER } from '../caller.js';
import { DEPS, type BugDeps } from '../deps.js';
import { Merging } from '../editing/merging.js';
import { GroupingRuleBook } from '../grouprules/book.js';
import { keyedBy } from '../grouprules/ruled-input.js';
import { Keys, type Keyed } from '../groups/keys.js';
import { slotId } from '../item/document-ids.js';
import type { ItemDoc } from '../item/model.js';
import type { OccurrenceDoc } from '../item/occurrence-documents.js';
import { unpack } from '../item/payload.js';
import { retold } from '../text/search-text.js';

const MOST_ATTEMPTS = 12;
/** Milliseconds until the next attempt; twice as many after each, up to the longest. */
const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 900_000;
const MOST_KEYS = 500;

const WORKED_ON: ReadonlySet<ItemDoc['status']> = new Set(['open', 'in_progress', 'needs_info']);

@injectable()
export class StoredLateOccurrences implements LateOccurrences {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(GroupingRuleBook) private readonly rules: GroupingRuleBook,
    @inject(Keys) private readonly keys: Keys,
    @inject(Merging) private readonly merging: Merging,
  ) {}

  async due(limit: number): Promise<LateOccurrence[]> {
    const { occurrences, items, texts, clock } = this.deps;
    const filter = { late_at: { lte: clock.iso() } };
    const page = await occurrences.find({ filter, sort: [['late_at', 'asc']], limit });
    const found: LateOccurrence[] = [];
    for (const stored of page.items) {
      const doc = await unpack(stored, (id) => texts.get(id));
      const item = await items.get(doc.item_id);
      const { id, occurrence_id, late, stack_trace, context } = doc;
      if (item === null || late === undefined) await this.#settle(doc);
      else found.push({ id, occurrence_id, project: item.project, late, stack_trace, context });
    }
    return found;
  }

  async postpone(occurrence: LateOccurrence, attempted: boolean): Promise<void> {
    const { occurrences, clock } = this.deps;
    const { id, occurrence_id } = occurrence;
    const stored = await this.#stored(occurrence);
    if (stored?.late === undefined) return;
    const tries = stored.late.tries + (attempted ? 1 : 0);
    if (tries >= MOST_ATTEMPTS) return this.#settle(stored);
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.max(0, tries - 1));
    const set = { late_at: isoOf(clock.now() + wait), 'late.tries': tries };
    await occurrences.change({ id, occurrence_id }, { set });
  }

  async rewrite(occurrence: LateOccurrence, { stack_trace, context, place }: RewrittenOccurrence): Promise<void> {
    const { items, texts, occurrences } = this.deps;
    const { id, occurrence_id } = occurrence;
    const found = await occurrences.get(id);
    const item = found?.occurrence_id === occurrence_id ? await items.get(found.item_id) : null;
    if (found === null || item === null) return;
    const stored = await unpack(found, (itemId) => texts.get(itemId));
    const isShared = 'stack_of_item' in found && found.stack_of_item === true;
    const placed = place === undefined ? {} : placeIn(place);
    const after: OccurrenceDoc = { ...stored, stack_trace, context, ...placed };
    const key = place === undefined ? null : await this.#regroup(item, stored, after);
    if (place !== undefined && id === slotId(item.id, 0)) await this.#showPlace(item, stored, after);
    if (isShared) await texts.change({ id: item.id }, { set: { stack_trace } });
    const set = {
      context,
      ...placed,
      ...(!isShared && { stack_trace }),
      ...(key !== null && { dedup_key: key }),
      rewritten: true as const,
    };
    await occurrences.change({ id, occurrence_id }, { set, unset: ['late', 'late_at'] });
  }

  /** Null: another occurrence has taken its slot, or it is gone. */
  async #stored({ id, occurrence_id }: LateOccurrence): Promise<OccurrenceDoc | null> {
    const stored = await this.deps.occurrences.get(id);
    if (stored?.occurrence_id !== occurrence_id) return null;
    return unpack(stored, (itemId) => this.deps.texts.get(itemId));
  }

  async #settle({ id, occurrence_id }: OccurrenceDoc): Promise<void> {
    await this.deps.occurrences.change({ id, occurrence_id }, { unset: ['late', 'late_at'] });
  }

  /**
   * Leads later reports with the rewritten frames to the item. One minified name may stand for several functions, so
   * the first of them that is rewritten has the item.
   * @returns the key; null where the occurrence's keys do not follow from what is stored of it
   */
  async #regroup(item: ItemDoc, before: OccurrenceDoc, after: OccurrenceDoc): Promise<string | null> {
    if ((await this.#keyed(item, before)).dedup_key !== before.dedup_key) return null;
    const keyed = await this.#keyed(item, after);
    const led = await this.keys.known(item.project, keyed.dedup_key);
    if (led === null) {
      const { items: own } = await this.deps.keys.find({ filter: { item_id: item.id }, limit: MOST_KEYS });
      const isFirst = own.length < MOST_KEYS && own.every(({ came }) => came !== 'rewritten');
      if (isFirst && item.status !== 'duplicate') await this.keys.addRewritten(keyed, item.id);
    } else if (led !== item.id) await this.#join(item, led);
    return keyed.dedup_key;
  }

  /** The error was counted under its source before: an item without a claim joins that one. */
  async #join({ id }: ItemDoc, into: string): Promise<void> {
    const { items, occurrences } = this.deps;
    const [item, other, first] = [await items.get(id), await items.get(into), await occurrences.get(slotId(id, 0))];
    const isLate = first !== null && ('late' in first || 'rewritten' in first);
    if (item === null || other === null || !WORKED_ON.has(other.status)) return;
    if (item.status !== 'open' || item.claim !== null || item.assignee || !isLate) return;
    await this.merging.merge(id, into, SYSTEM_CALLER);
  }

  async #keyed({ type, project, title }: ItemDoc, occurrence: OccurrenceDoc): Promise<Keyed> {
    const report = { ...occurrence, type, project, title };
    return keyedBy(report, await this.rules.ruling(report), this.deps.grouping.masks);
  }

  async #showPlace({ id, title, search_text }: ItemDoc, before: OccurrenceDoc, after: OccurrenceDoc): Promise<void> {
    const { items } = this.deps;
    const { file_path, line_no } = after;
    const had = { file_path: before.file_path, line_no: before.line_no };
    if ((await items.change({ id, ...had }, { set: { file_path, line_no } })) === null) return;
    // A title that is changed meanwhile is found by its own words.
    await items.change({ id, search_text }, { set: { search_text: retold(search_text, { title, file_path }) } });
  }
}

const placeIn = ({ file_path, line_no, function_name }: NonNullable<RewrittenOccurrence['place']>) => ({
  file_path,
  line_no,
  ...(function_name !== null && { function_name }),
});
