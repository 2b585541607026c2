/**
 * Finds the item of a report (contract 21, many keys per item). A new key is decided in its family,
 * the document that all origins of one class and message share, by compare-and-set, so parallel
 * first reports agree.
 *
 * Order of writes: family (marker: `recent` names the decision) → key → item. A call that finds a
 * decided key without its item completes the item (docs/consistency.md, Items). With transactions,
 * all of them are one commit (intake/item-creator.ts). A lock document per key was rejected,
 * because a dead holder blocks its group.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { StoreConflict, type Filter, type Update, type Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { hashWithinProject } from '../item/document-ids.js';
import { WriteCommitter, type DocumentWrite } from '../store/write-committer.js';
import { FloodDetector, type FloodSource } from './flood-detector.js';
import type { Grouping, GroupingInput } from '../grouping/grouping-key.js';
import type { FamilyDoc, KeyDoc, SplitKey } from '../item/model.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';

const MAX_CACHED_KEYS = 20_000;
const MAX_CACHED_FAMILIES = 10_000;
/**
 * Merged items reject fast counts, so another process's merge is noticed immediately, and its split
 * within this time.
 */
const KEY_CACHE_TTL_MS = 2_000;

const MAX_RECENT_DECISIONS = 100;

export interface KeyedReport extends Grouping {
  project: string;
  report: GroupingInput;
  rule_id?: string;
}

export interface GroupDecision {
  item_id: string;
  adopted: boolean;
  /** The item's message differs in words with digits. */
  flooded: boolean;
  /** Assign keys to a new item, before it or in its transaction. */
  writes: readonly DocumentWrite[];
}

export interface KeyMatch {
  item: string;
  divided?: readonly SplitKey[] | undefined;
}

export const createExistingDecision = (item_id: string): GroupDecision => ({
  item_id,
  adopted: false,
  flooded: false,
  writes: [],
});

@injectable()
export class GroupingKeyResolver {
  #recent: BoundedMap<KeyMatch>;
  readonly #families = new BoundedMap<true>({ most: MAX_CACHED_FAMILIES });

  constructor(
    @inject(DEPS.keys) private readonly keys: Collection<KeyDoc>,
    @inject(DEPS.families) private readonly families: Collection<FamilyDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(FloodDetector) private readonly floods: FloodDetector,
    @inject(WriteCommitter) private readonly commit: WriteCommitter,
  ) {
    this.#recent = this.#createCache();
  }

  #createCache(): BoundedMap<KeyMatch> {
    return new BoundedMap({ most: MAX_CACHED_KEYS, ttlMs: KEY_CACHE_TTL_MS, now: () => this.clock.monotonic() });
  }

  clearCache(): void {
    this.#recent = this.#createCache();
  }

  async findItem(project: string, key: string): Promise<string | null> {
    return (await this.findMatch(project, key))?.item ?? null;
  }

  async findMatch(project: string, key: string): Promise<KeyMatch | null> {
    const recent = this.#recent;
    const before = this.getCachedMatch(project, key);
    if (before !== null) return before;
    const found = await this.keys.get(hashWithinProject(project, key));
    if (found === null) return null;
    const lead: KeyMatch = { item: found.counts_at ?? found.item_id, divided: found.divided };
    recent.set(toCacheKey(project, key), lead);
    return lead;
  }

  getCachedMatch(project: string, key: string): KeyMatch | null {
    return this.#recent.get(toCacheKey(project, key)) ?? null;
  }

  /**
   * The caller creates a new item together with the returned writes.
   * @param mayCreate called before a new item is decided; false returns null, and nothing was
   *   written
   */
  async decide(keyed: KeyedReport, mayCreate: () => boolean = () => true): Promise<GroupDecision | null> {
    const decision = await this.#decideByFamily(keyed, mayCreate);
    if (decision === null || decision.writes.length > 0) return decision;
    const { project, dedup_key } = keyed;
    const came = decision.flooded ? 'flood' : 'joined';
    if (await this.#addKey(keyed, dedup_key, decision.item_id, came)) return decision;
    const winner = await this.keys.get(hashWithinProject(project, dedup_key));
    return createExistingDecision(winner?.counts_at ?? winner?.item_id ?? decision.item_id);
  }

  async addRewritten(keyed: KeyedReport, item_id: string): Promise<void> {
    await this.#addKey(keyed, keyed.dedup_key, item_id, 'rewritten');
  }

  /** The item's other keys were deleted with it. */
  async removeKeys({ project, dedup_key, bare_key }: KeyedReport, itemId: string): Promise<void> {
    const { keys, families } = this;
    this.clearCache();
    await keys.remove({ id: hashWithinProject(project, dedup_key), item_id: itemId });
    for (;;) {
      const family = await families.get(hashWithinProject(project, bare_key));
      if (family === null) return;
      const { id, rev } = family;
      if (family.newest === itemId) {
        if ((await families.remove({ id, rev })) > 0) return;
        continue;
      }
      const set = family.unadopted === itemId ? { unadopted: null } : {};
      const update = { set, inc: { rev: 1 }, pull: { recent: { field: 'item', in: [itemId] } } };
      if ((await families.change({ id, rev }, update)) !== null) return;
    }
  }

  #buildKeyWrites(keyed: KeyedReport, item_id: string, source: FloodSource | null): DocumentWrite[] {
    const { project, dedup_key } = keyed;
    const lead: DocumentWrite = {
      collection: 'keys',
      insert: { ...buildKeyDocument(project, dedup_key, item_id), ...toKeyOrigin(keyed) },
    };
    if (source === null) return [lead];
    const counted: DocumentWrite = {
      collection: 'floods',
      ...this.floods.buildCountWrite(source, item_id),
      upsert: true,
    };
    const own = this.floods.getSeparateKey(source);
    if (own === null) return [lead, counted];
    // An existing coarse key stays.
    const { id, ...coarse } = buildKeyDocument(project, own, item_id);
    return [lead, { collection: 'keys', change: { id }, update: { setOnInsert: coarse }, upsert: true }, counted];
  }

  async #addKey(keyed: KeyedReport, key: string, item_id: string, came: NonNullable<KeyDoc['came']>): Promise<boolean> {
    try {
      await this.keys.insert({ ...buildKeyDocument(keyed.project, key, item_id), came, ...toKeyOrigin(keyed) });
      return true;
    } catch (error) {
      if (error instanceof StoreConflict) return false;
      throw error;
    }
  }

  async #decideByFamily(keyed: KeyedReport, mayCreate: () => boolean): Promise<GroupDecision | null> {
    const { families, ids } = this;
    const id = hashWithinProject(keyed.project, keyed.bare_key);
    let isAllowed = false;
    const allows = (): boolean => (isAllowed ||= mayCreate());
    // Most new keys start a family, so without transactions the write precedes the read.
    const made = this.commit.isAtomic ? null : await this.#decideByNewFamily(id, keyed, allows);
    if (made !== null) return made;
    let source: FloodSource | null = null;
    let isNew = false;
    for (;;) {
      const family = await families.get(id);
      this.#families.set(id, true);
      // The decision may have been completed and removed since the lookup; a new family's key is
      // rejected by the store.
      const known = family === null ? null : await this.findItem(keyed.project, keyed.dedup_key);
      if (known !== null) return createExistingDecision(known);
      const next = family === null ? null : decideInFamily(family, keyed);
      if (next?.done) return createExistingDecision(next.item_id);
      if (next === null || next.item_id === null) {
        if (!isNew) {
          source = await this.floods.findSource(keyed.report, keyed.project, keyed);
          const flooded = source && (await this.#findFloodedItem(source));
          if (flooded !== null) return { ...createExistingDecision(flooded), flooded: true };
          if (!allows()) return null;
          isNew = true;
        }
        const item_id = ids.uuid();
        const write: DocumentWrite = { collection: 'families', ...buildFamilyWrite(id, keyed, family, item_id, true) };
        return { ...createExistingDecision(item_id), writes: [write, ...this.#buildKeyWrites(keyed, item_id, source)] };
      }
      const write: DocumentWrite = {
        collection: 'families',
        ...buildFamilyWrite(id, keyed, family, next.item_id, false),
      };
      if (await this.commit.write([write]))
        return { ...createExistingDecision(next.item_id), adopted: keyed.origin !== '' };
    }
  }

  /** Returns null if the family exists or must be read. */
  async #decideByNewFamily(id: string, keyed: KeyedReport, allows: () => boolean): Promise<GroupDecision | null> {
    if (this.#families.get(id) === true) return null;
    const source = await this.floods.findSource(keyed.report, keyed.project, keyed);
    if (source !== null && this.floods.isFlooded(source)) return null;
    if (!allows()) return null;
    const item_id = this.ids.uuid();
    const write: DocumentWrite = { collection: 'families', ...buildFamilyWrite(id, keyed, null, item_id, true) };
    const written = await this.commit.write([write]);
    this.#families.set(id, true);
    return written && { ...createExistingDecision(item_id), writes: this.#buildKeyWrites(keyed, item_id, source) };
  }

  /** Only once the source has flooded (contract 21, flood). */
  async #findFloodedItem(source: FloodSource): Promise<string | null> {
    const { project, coarse_key } = source;
    if (coarse_key === null || !this.floods.isFlooded(source)) return null;
    // After a merge, the item's own key leads to the other item.
    const first = await this.floods.findFirstKey(source);
    return (first && (await this.findItem(project, first))) ?? this.findItem(project, coarse_key);
  }
}

/** Slugs contain no blank. */
const toCacheKey = (project: string, key: string): string => `${project} ${key}`;

const buildKeyDocument = (
  project: string,
  key: string,
  item_id: string,
): Pick<KeyDoc, 'id' | 'project' | 'key' | 'item_id'> => ({
  id: hashWithinProject(project, key),
  project,
  key,
  item_id,
});

/** Length of the stored origin and message, which explain the grouping. */
const MAX_SHOWN_LENGTH = 300;

function toKeyOrigin({ rule_id, report, origin, masked }: KeyedReport): Pick<KeyDoc, 'rule_id' | 'made_of'> {
  if (rule_id !== undefined) return { rule_id };
  if (report.fingerprint?.length) return {};
  return { made_of: { origin: origin.slice(0, MAX_SHOWN_LENGTH), masked: masked.slice(0, MAX_SHOWN_LENGTH) } };
}

type FamilyWrite = { insert: FamilyDoc } | { change: Filter; update: Update };

function buildFamilyWrite(
  id: string,
  keyed: KeyedReport,
  family: FamilyDoc | null,
  item: string,
  isNew: boolean,
): FamilyWrite {
  const decided = { key: keyed.dedup_key, item };
  const unadopted = keyed.origin === '' && isNew ? item : null;
  if (family === null)
    return { insert: { id, project: keyed.project, rev: 1, newest: item, unadopted, recent: [decided] } };
  const set = isNew ? { newest: item, unadopted } : keyed.origin === '' ? {} : { unadopted: null };
  const update = { set, inc: { rev: 1 }, push: { recent: { each: [decided], keep: MAX_RECENT_DECISIONS } } };
  return { change: { id, rev: family.rev }, update };
}

export function decideInFamily(
  family: FamilyDoc,
  keyed: KeyedReport,
): { item_id: string; done: boolean } | { item_id: null; done: false } {
  const before = family.recent.find((decision) => decision.key === keyed.dedup_key);
  if (before !== undefined) return { item_id: before.item, done: true };
  if (keyed.origin === '') return { item_id: family.newest, done: false };
  return family.unadopted === null ? { item_id: null, done: false } : { item_id: family.unadopted, done: false };
}
