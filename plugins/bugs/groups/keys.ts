/**
 * Finds the item of a report (contract 21, many keys per item). A known key decides at once. An unknown key is decided
 * by its family, the document that all origins of one class and message share, with compare-and-set: so parallel first
 * reports agree, in one process or in many.
 *
 * Order: family (marker: `recent` names the decision) → key → item. A call that meets a decided key without its item
 * completes the item from the report at hand, so a crash between two steps blocks no report (docs/consistency.md,
 * Items). Where the store has transactions, all of these are one (intake/new-items.ts).
 *
 * Rejected: a lock document per key (a holder that dies blocks its group), and an upsert of the item by its key (an
 * item has many keys).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { StoreConflict, type Filter, type Update } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';
import { hashWithinProject } from '../item/document-ids.js';
import { Commit, type Write } from '../store/commit.js';
import { Floods, type Source } from './floods.js';
import type { Grouping, GroupingInput } from '../grouping/key.js';
import type { FamilyDoc, KeyDoc, KeyPart } from '../item/model.js';

/** Keys that this process has used lately. */
const CACHED_KEYS = 20_000;
/** Families that this process has used lately. */
const CACHED_FAMILIES = 10_000;
/**
 * Time, in milliseconds, for which a key's item is trusted without asking the store. Keys move only when items are
 * merged or split. A merged item refuses to be counted blindly, so another process's merge is noticed at once, and its
 * split within this time.
 */
const BELIEVED_MS = 2_000;

/** Decisions that a family remembers: more than can be under way at once. */
const REMEMBERED = 100;

/** A report with its grouping. */
export interface Keyed extends Grouping {
  project: string;
  report: GroupingInput;
  /** The grouping rule that made the keys. */
  rule_id?: string;
}

export interface Decision {
  item_id: string;
  /** The item had no origin; this report brings one. */
  adopted: boolean;
  /** The flood rule chose an item whose message differs in words with digits. */
  flooded: boolean;
  /** Writes that lead to a new item, to be made before it or together with it. None: the item exists. */
  writes: readonly Write[];
}

/** The place that a known key leads to. */
export interface Lead {
  item: string;
  /** Parts that were split off; undefined: none, as nearly always. */
  divided?: readonly KeyPart[] | undefined;
}

export const createExistingDecision = (item_id: string): Decision => ({
  item_id,
  adopted: false,
  flooded: false,
  writes: [],
});

@injectable()
export class Keys {
  #recent: BoundedMap<Lead>;
  /** Families that are there, or were. */
  readonly #families = new BoundedMap<true>({ most: CACHED_FAMILIES });

  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Floods) private readonly floods: Floods,
    @inject(Commit) private readonly commit: Commit,
  ) {
    this.#recent = this.#empty();
  }

  #empty(): BoundedMap<Lead> {
    return new BoundedMap({ most: CACHED_KEYS, ttlMs: BELIEVED_MS, now: () => this.deps.clock.monotonic() });
  }

  /** Forgets all cached keys after some were moved. A look-up under way fills an entry that is no longer used. */
  forget(): void {
    this.#recent = this.#empty();
  }

  /** The item of a known key, or null. */
  async known(project: string, key: string): Promise<string | null> {
    return (await this.lead(project, key))?.item ?? null;
  }

  /** The place that a known key leads to, or null. */
  async lead(project: string, key: string): Promise<Lead | null> {
    const recent = this.#recent;
    const before = this.recent(project, key);
    if (before !== null) return before;
    const found = await this.deps.keys.get(hashWithinProject(project, key));
    if (found === null) return null;
    const lead: Lead = { item: found.counts_at ?? found.item_id, divided: found.divided };
    recent.set(nameOf(project, key), lead);
    return lead;
  }

  /** The place of a key that this process has used lately, else null. */
  recent(project: string, key: string): Lead | null {
    return this.#recent.get(nameOf(project, key)) ?? null;
  }

  /**
   * The item that the report belongs to. The caller makes a new one, together with the writes that lead to it.
   * @param mayCreate asked before a new item; when it says no, the answer is null and nothing was written
   */
  async decide(keyed: Keyed, mayCreate: () => boolean = () => true): Promise<Decision | null> {
    const decision = await this.#byFamily(keyed, mayCreate);
    if (decision === null || decision.writes.length > 0) return decision;
    const { project, dedup_key } = keyed;
    const came = decision.flooded ? 'flood' : 'joined';
    if (await this.#lead(keyed, dedup_key, decision.item_id, came)) return decision;
    const winner = await this.deps.keys.get(hashWithinProject(project, dedup_key));
    return createExistingDecision(winner?.counts_at ?? winner?.item_id ?? decision.item_id);
  }

  /** Leads the key of an occurrence whose frames were rewritten later to its item. */
  async addRewritten(keyed: Keyed, item_id: string): Promise<void> {
    await this.#lead(keyed, keyed.dedup_key, item_id, 'rewritten');
  }

  /** Removes the leads to a deleted item for this report. The item's other keys went with it. */
  async release({ project, dedup_key, bare_key }: Keyed, itemId: string): Promise<void> {
    const { keys, families } = this.deps;
    this.forget();
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

  /** Writes that lead a new item's keys to it, and count it for the flood rule. */
  #leading(keyed: Keyed, item_id: string, source: Source | null): Write[] {
    const { project, dedup_key } = keyed;
    const lead: Write = { collection: 'keys', insert: { ...keyDoc(project, dedup_key, item_id), ...madeBy(keyed) } };
    if (source === null) return [lead];
    const counted: Write = {
      collection: 'floods',
      ...this.floods.counting(source, item_id),
      upsert: true,
    };
    const own = this.floods.ownKey(source);
    if (own === null) return [lead, counted];
    // An item that has the coarse key already keeps it.
    const { id, ...coarse } = keyDoc(project, own, item_id);
    return [lead, { collection: 'keys', change: { id }, update: { setOnInsert: coarse }, upsert: true }, counted];
  }

  /** Leads a key to an item; false when it leads somewhere already. */
  async #lead(keyed: Keyed, key: string, item_id: string, came: NonNullable<KeyDoc['came']>): Promise<boolean> {
    try {
      await this.deps.keys.insert({ ...keyDoc(keyed.project, key, item_id), came, ...madeBy(keyed) });
      return true;
    } catch (error) {
      if (error instanceof StoreConflict) return false;
      throw error;
    }
  }

  async #byFamily(keyed: Keyed, mayCreate: () => boolean): Promise<Decision | null> {
    const { families, ids } = this.deps;
    const id = hashWithinProject(keyed.project, keyed.bare_key);
    let isAllowed = false;
    const allows = (): boolean => (isAllowed ||= mayCreate());
    // Most unknown keys begin a family: where each write is one of its own anyway, that is tried before a look.
    const made = this.commit.isTogether ? null : await this.#byNewFamily(id, keyed, allows);
    if (made !== null) return made;
    let source: Source | null = null;
    let isNew = false;
    for (;;) {
      const family = await families.get(id);
      this.#families.set(id, true);
      // A decision may have been made, completed and forgotten since the key was looked up. Where the family is new,
      // the store refuses the write of a key that exists.
      const known = family === null ? null : await this.known(keyed.project, keyed.dedup_key);
      if (known !== null) return createExistingDecision(known);
      const next = family === null ? null : decideInFamily(family, keyed);
      if (next?.done) return createExistingDecision(next.item_id);
      if (next === null || next.item_id === null) {
        if (!isNew) {
          source = await this.floods.sourceOf(keyed.report, keyed.project, keyed);
          const flooded = source && (await this.#flooded(source));
          if (flooded !== null) return { ...createExistingDecision(flooded), flooded: true };
          if (!allows()) return null;
          isNew = true;
        }
        const item_id = ids.uuid();
        const write: Write = { collection: 'families', ...familyWrite(id, keyed, family, item_id, true) };
        return { ...createExistingDecision(item_id), writes: [write, ...this.#leading(keyed, item_id, source)] };
      }
      const write: Write = { collection: 'families', ...familyWrite(id, keyed, family, next.item_id, false) };
      if (await this.commit.write([write]))
        return { ...createExistingDecision(next.item_id), adopted: keyed.origin !== '' };
    }
  }

  /** A new item of a new family; null: the family is there, or only a look at it can tell. */
  async #byNewFamily(id: string, keyed: Keyed, allows: () => boolean): Promise<Decision | null> {
    if (this.#families.get(id) === true) return null;
    const source = await this.floods.sourceOf(keyed.report, keyed.project, keyed);
    if (source !== null && this.floods.isFlooded(source)) return null;
    if (!allows()) return null;
    const item_id = this.deps.ids.uuid();
    const write: Write = { collection: 'families', ...familyWrite(id, keyed, null, item_id, true) };
    const written = await this.commit.write([write]);
    this.#families.set(id, true);
    return written && { ...createExistingDecision(item_id), writes: this.#leading(keyed, item_id, source) };
  }

  /** The item with the same coarse key, once its source has flooded (contract 21, flood). */
  async #flooded(source: Source): Promise<string | null> {
    const { project, coarse_key } = source;
    if (coarse_key === null || !this.floods.isFlooded(source)) return null;
    // The coarse key leads where the item's own key leads: after a merge, to the other item.
    const first = await this.floods.keyOfFirst(source);
    return (first && (await this.known(project, first))) ?? this.known(project, coarse_key);
  }
}

/** The cache's name of a key. No slug holds a blank. */
const nameOf = (project: string, key: string): string => `${project} ${key}`;

const keyDoc = (project: string, key: string, item_id: string): Pick<KeyDoc, 'id' | 'project' | 'key' | 'item_id'> => ({
  id: hashWithinProject(project, key),
  project,
  key,
  item_id,
});

/** Characters of an origin and of a message that are stored with a key, to say what made it. */
const MAX_SHOWN_LENGTH = 300;

function madeBy({ rule_id, report, origin, masked }: Keyed): Pick<KeyDoc, 'rule_id' | 'made_of'> {
  if (rule_id !== undefined) return { rule_id };
  if (report.fingerprint?.length) return {};
  return { made_of: { origin: origin.slice(0, MAX_SHOWN_LENGTH), masked: masked.slice(0, MAX_SHOWN_LENGTH) } };
}

type FamilyWrite = { insert: FamilyDoc } | { change: Filter; update: Update };

/** The decision that a key belongs to an item, by compare-and-set of its family. Pure. */
function familyWrite(id: string, keyed: Keyed, family: FamilyDoc | null, item: string, isNew: boolean): FamilyWrite {
  const decided = { key: keyed.dedup_key, item };
  const unadopted = keyed.origin === '' && isNew ? item : null;
  if (family === null)
    return { insert: { id, project: keyed.project, rev: 1, newest: item, unadopted, recent: [decided] } };
  const set = isNew ? { newest: item, unadopted } : keyed.origin === '' ? {} : { unadopted: null };
  const update = { set, inc: { rev: 1 }, push: { recent: { each: [decided], keep: REMEMBERED } } };
  return { change: { id, rev: family.rev }, update };
}

/** The decision that a family holds for an unknown key. `item_id` null asks for a new item. Pure. */
export function decideInFamily(
  family: FamilyDoc,
  keyed: Keyed,
): { item_id: string; done: boolean } | { item_id: null; done: false } {
  const before = family.recent.find((decision) => decision.key === keyed.dedup_key);
  if (before !== undefined) return { item_id: before.item, done: true };
  if (keyed.origin === '') return { item_id: family.newest, done: false };
  return family.unadopted === null ? { item_id: null, done: false } : { item_id: family.unadopted, done: false };
}
