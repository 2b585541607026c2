/**
 * Rewrites frames of counted occurrences (ports/domain/frame-rewriting.ts). Order: grouping key →
 * place and trace of the item, if the occurrence is its first → the occurrence, which then is no
 * longer due. Each step is repeatable, so a crash leaves the occurrence to the next run.
 */
import { inject, injectable } from '../../kernel/contract/index.js';
import { ServiceError } from '../../kernel/errors.js';
import { DAY_MS, toIsoString } from '../../lib/time.js';
import type {
  UnmappedOccurrence,
  UnmappedOccurrences,
  RewrittenOccurrence,
} from '../../ports/domain/frame-rewriting.js';
import { SYSTEM_CALLER } from './caller.js';
import { DEPS } from './deps.js';
import { MergeService } from './editing/merging.js';
import { GroupingRuleCache } from './grouping-rules/rule-cache.js';
import { applyRuleOutcome } from './grouping-rules/rule-outcome.js';
import { GroupingKeyResolver, type KeyedReport } from './groups/grouping-keys.js';
import { toSlotId } from './item/document-ids.js';
import type { ItemDoc, TextsDoc, KeyDoc } from './item/model.js';
import type { OccurrenceDoc, StoredOccurrence } from './item/occurrence-documents.js';
import { unpackOccurrence } from './item/occurrence-payload.js';
import { isFinished } from './item/transitions.js';
import { cleanText } from '../../lib/text/clean-text.js';
import { scrubDetails } from './text/scrub-report.js';
import { scrubText } from './text/scrub-text.js';
import { rebuildSearchText } from './text/search-text.js';
import type { GroupingSettings } from './grouping/grouping-settings.js';
import type { Logger } from '../../ports/logger.js';
import type { Clock } from '../../ports/clock.js';
import type { Collection } from '../../ports/store/index.js';

const MAX_ATTEMPTS = 12;
/** Doubles up to MAX_RETRY_DELAY_MS. */
const MIN_RETRY_DELAY_MS = 30_000;
const MAX_RETRY_DELAY_MS = 900_000;
const MAX_AGE_MS = DAY_MS;
const MAX_KEYS = 500;

@injectable()
export class StoredUnmappedOccurrences implements UnmappedOccurrences {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
    @inject(DEPS.keys) private readonly keyRows: Collection<KeyDoc>,
    @inject(DEPS.occurrences) private readonly occurrences: Collection<StoredOccurrence>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.grouping) private readonly grouping: GroupingSettings,
    @inject(GroupingRuleCache) private readonly rules: GroupingRuleCache,
    @inject(GroupingKeyResolver) private readonly keys: GroupingKeyResolver,
    @inject(MergeService) private readonly merging: MergeService,
  ) {}

  async listDue(limit: number): Promise<UnmappedOccurrence[]> {
    const { occurrences, items, clock } = this;
    const filter = { late_at: { lte: clock.iso() } };
    for (;;) {
      const page = await occurrences.find({ filter, sort: [['late_at', 'asc']], limit });
      const found: UnmappedOccurrence[] = [];
      for (const stored of page.items) {
        const doc = await this.#unpack(stored);
        const item = doc && (await items.get(doc.item_id));
        if (!item || doc?.late === undefined) await this.#clearPending(stored);
        else {
          const { id, occurrence_id, late, stack_trace, context } = doc;
          found.push({ id, occurrence_id, project: item.project, late, stack_trace, context });
        }
      }
      if (found.length > 0 || page.items.length < limit) return found;
    }
  }

  async #unpack(stored: StoredOccurrence): Promise<OccurrenceDoc | null> {
    try {
      return await unpackOccurrence(stored, (id) => this.texts.get(id));
    } catch (err) {
      this.log.warn({ err, occurrence: stored.id }, 'frames were not mapped: the occurrence is damaged');
      return null;
    }
  }

  async postpone(occurrence: UnmappedOccurrence): Promise<string | null> {
    const { occurrences, clock } = this;
    const { id, occurrence_id } = occurrence;
    const stored = await this.#find(occurrence);
    if (stored?.late === undefined) return null;
    const tries = stored.late.tries + 1;
    if (tries >= MAX_ATTEMPTS || clock.now() - Date.parse(stored.received_at) > MAX_AGE_MS) {
      await this.#clearPending(stored);
      return null;
    }
    const late_at = toIsoString(clock.now() + Math.min(MAX_RETRY_DELAY_MS, MIN_RETRY_DELAY_MS * 2 ** (tries - 1)));
    await occurrences.change({ id, occurrence_id }, { set: { late_at, 'late.tries': tries } });
    return late_at;
  }

  async defer({ id, occurrence_id }: UnmappedOccurrence, until: string): Promise<void> {
    const { occurrences, clock } = this;
    const oldest = toIsoString(clock.now() - MAX_AGE_MS);
    const young = { id, occurrence_id, received_at: { gte: oldest } };
    if ((await occurrences.change(young, { set: { late_at: until } })) === null)
      await this.#clearPending({ id, occurrence_id });
  }

  async rewrite(occurrence: UnmappedOccurrence, rewritten: RewrittenOccurrence): Promise<void> {
    // Sources may contain credentials, as reports may.
    const { stack_trace, context, place } = scrubRewritten(rewritten);
    const { items, texts, occurrences } = this;
    const { id, occurrence_id } = occurrence;
    const found = await occurrences.get(id);
    const item = found?.occurrence_id === occurrence_id ? await items.get(found.item_id) : null;
    if (found === null || item === null) return;
    const stored = await unpackOccurrence(found, (itemId) => texts.get(itemId));
    const isShared = 'stack_of_item' in found && found.stack_of_item === true;
    const placed = place === undefined ? {} : toPlace(place);
    const after: OccurrenceDoc = { ...stored, stack_trace, context, ...placed };
    const isFirst = id === toSlotId(item.id, 0);
    const key = place === undefined ? null : await this.#regroup(item, stored, after, isFirst);
    if (place !== undefined && isFirst) await this.#updatePlace(item, stored, after);
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

  /** Returns null when gone, or its slot was reused. */
  async #find({ id, occurrence_id }: UnmappedOccurrence): Promise<OccurrenceDoc | null> {
    const stored = await this.occurrences.get(id);
    if (stored?.occurrence_id !== occurrence_id) return null;
    return unpackOccurrence(stored, (itemId) => this.texts.get(itemId));
  }

  async #clearPending({ id, occurrence_id }: Pick<OccurrenceDoc, 'id' | 'occurrence_id'>): Promise<void> {
    await this.occurrences.change({ id, occurrence_id }, { unset: ['late', 'late_at'] });
  }

  /**
   * A minified name may stand for several functions, so the first rewritten key decides and only
   * the item's first occurrence joins its owner.
   * @returns null when the stored data does not determine the keys
   */
  async #regroup(item: ItemDoc, before: OccurrenceDoc, after: OccurrenceDoc, isFirst: boolean): Promise<string | null> {
    if ((await this.#deriveKeys(item, before)).dedup_key !== before.dedup_key) return null;
    const keyed = await this.#deriveKeys(item, after);
    const ownerItemId = await this.keys.findItem(item.project, keyed.dedup_key);
    if (ownerItemId === item.id) return keyed.dedup_key;
    const { items: own } = await this.keyRows.find({ filter: { item_id: item.id }, limit: MAX_KEYS });
    const isUndecided = own.length < MAX_KEYS && own.every(({ came }) => came !== 'rewritten');
    if (!isUndecided || item.status === 'duplicate') return keyed.dedup_key;
    if (ownerItemId === null) await this.keys.addRewritten(keyed, item.id);
    else if (isFirst) await this.#join(item, ownerItemId);
    return keyed.dedup_key;
  }

  /**
   * Merges an unclaimed item into the item that the error was counted in under its original source.
   */
  async #join({ id }: ItemDoc, into: string): Promise<void> {
    const items = this.items;
    const [item, other] = [await items.get(id), await items.get(into)];
    // A muted item would hide the error.
    if (item === null || other === null || isFinished(other.status) || other.muted) return;
    if (item.status !== 'open' || item.claim !== null || item.assignee) return;
    try {
      await this.merging.merge(id, into, SYSTEM_CALLER);
    } catch (error) {
      // They stay separate.
      if (!(error instanceof ServiceError)) throw error;
    }
  }

  async #deriveKeys({ type, project, title }: ItemDoc, occurrence: OccurrenceDoc): Promise<KeyedReport> {
    const report = { ...occurrence, type, project, title };
    return applyRuleOutcome(report, await this.rules.evaluate(report), this.grouping.masks);
  }

  async #updatePlace(
    { id, ref, title, search_text }: ItemDoc,
    before: OccurrenceDoc,
    after: OccurrenceDoc,
  ): Promise<void> {
    const items = this.items;
    const { file_path, line_no } = after;
    const had = { file_path: before.file_path, line_no: before.line_no };
    if ((await items.change({ id, ...had }, { set: { file_path, line_no } })) === null) return;
    // A changed title brings its own search text.
    await items.change(
      { id, search_text },
      { set: { search_text: rebuildSearchText({ ref, search_text }, { title, file_path }) } },
    );
  }
}

function scrubRewritten({ stack_trace, context, place }: RewrittenOccurrence): RewrittenOccurrence {
  const scrub = (text: string | null): string | null => (text === null ? null : scrubText(cleanText(text)));
  return {
    stack_trace: scrub(stack_trace),
    context: scrubDetails({ context, breadcrumbs: null }).context,
    place: place && {
      ...place,
      file_path: scrub(place.file_path) ?? '',
      function_name: scrub(place.function_name),
    },
  };
}

const toPlace = ({ file_path, line_no, function_name }: NonNullable<RewrittenOccurrence['place']>) => ({
  file_path,
  line_no,
  ...(function_name !== null && { function_name }),
});
