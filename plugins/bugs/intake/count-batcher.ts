/**
 * Occurrences of one item that come within one turn of the event loop are counted by one write: an error that storms comes
 * from all its processes at once, and each write of an item rewrites it whole. Every caller still learns its own place: the
 * write answers the item after the last of them, and what each would have seen is that, less those behind it.
 *
 * Nothing waits for it: the turn ends at once when no other report arrives, and with enough of them (EARLY) it does not wait for its
 * end, so that the store writes while this thread reads on. Rejected: one write at a time per item (the next
 * occurrence would wait for a commit), and gathering for some milliseconds (every answer would be late by them).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import type { Filter, Update } from '../../../ports/store.js';
import type { IncomingReport } from './incoming-report.js';
import { counting } from './counting.js';
import { DEPS, type Deps } from '../deps.js';
import { DeltaWatermark } from '../store/delta-watermark.js';
import type { ItemDoc } from '../item/model.js';
import { hourKey, minuteKey } from '../item/rate.js';
import { ClientRefs } from '../store/client-refs.js';
import type { KeptPayload } from './payload-sampler.js';

/** Writes, and the reports in them, that do not wait for the end of the turn. */
const EARLY = { writes: 4, reports: 8 };

interface Waiting {
  incoming: IncomingReport;
  /** Written with the count, where its reference is. */
  kept: KeptPayload | null;
  resolve: (doc: ItemDoc | null) => void;
  reject: (error: unknown) => void;
}

interface Batch {
  id: string;
  lane: string;
  waiting: Waiting[];
}

@injectable()
export class CountBatcher {
  #batches = new Map<string, Batch>();
  #gathered = 0;

  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(ClientRefs) private readonly refs: ClientRefs,
  ) {}

  /**
   * Counts a report; the item as this count left it, or null when it is in another lane, or the reference is known.
   * @param kept the payload of a report whose reference is still to be written: both with the count, or nothing
   */
  count(id: string, lane: string, incoming: IncomingReport, kept?: KeptPayload | null): Promise<ItemDoc | null> {
    return new Promise((resolve, reject) => {
      const key = `${id} ${lane}`;
      const batch = this.#batches.get(key);
      const one = { incoming, kept: kept ?? null, resolve, reject };
      if (batch === undefined) this.#batches.set(key, { id, lane, waiting: [one] });
      else batch.waiting.push(one);
      this.#gathered += 1;
      if (this.#batches.size >= EARLY.writes || this.#gathered >= EARLY.reports) this.#flush();
      else if (this.#gathered === 1) setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const batches = this.#batches;
    this.#batches = new Map();
    this.#gathered = 0;
    for (const batch of batches.values()) void this.#write(batch);
  }

  async #write({ id, lane, waiting }: Batch): Promise<void> {
    try {
      const changed = await this.watermark.write(id, (stamp) => {
        const updates = waiting.map(({ incoming }) => counting(incoming, stamp, this.refs.takeNotes(id)));
        const unnoted = Object.assign({}, ...waiting.map(({ incoming }) => withoutNote(incoming))) as Filter;
        return this.#change({ id, lane, ...unnoted }, summed(updates), waiting);
      });
      const docs = changed === null ? [] : stepsTo(changed, waiting);
      for (const [i, { resolve }] of waiting.entries()) resolve(docs[i] ?? null);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  /** With the references that are still to be written and their payloads, in one transaction: a known reference refuses it at once. */
  async #change(filter: Filter, update: Update, waiting: readonly Waiting[]): Promise<ItemDoc | null> {
    const { items, transact } = this.deps;
    const refs = waiting.flatMap(({ incoming: { ref } }) => ref?.unwritten ?? []);
    if (refs.length === 0 || transact === null) return (await items.change(filter, update))?.doc ?? null;
    const done = await transact([
      ...refs.map((ref) => ({ collection: 'refs', insert: ref })),
      { collection: 'items', change: filter, update, answer: true },
      ...waiting.flatMap(({ kept }) => (kept === null ? [] : [{ collection: 'occurrences', ...kept }])),
    ]);
    return (done?.[refs.length] ?? null) as ItemDoc | null;
  }
}

/** Holds while the item does not carry the reference's note: see client-refs.ts. */
export const withoutNote = ({ ref }: IncomingReport): Filter =>
  ref === null || ref.unwritten !== undefined ? {} : { [`inflight.${ref.id}`]: null };

/** The item after each of the counts, the last one being what was written. */
function stepsTo(last: ItemDoc, waiting: readonly Waiting[]): ItemDoc[] {
  const docs = [last];
  for (let i = waiting.length - 1; i > 0; i--) docs.unshift(without(docs[0] as ItemDoc, waiting[i] as Waiting));
  return docs;
}

const without = (doc: ItemDoc, { incoming }: Waiting): ItemDoc => ({
  ...doc,
  hit_count: doc.hit_count - 1,
  minutes: less(doc.minutes, minuteKey(incoming.now)),
  hours: less(doc.hours, hourKey(incoming.now)),
});

function less(counters: { readonly [key: string]: number }, key: string): { [key: string]: number } {
  const { [key]: n = 0, ...others } = counters;
  return n > 1 ? { ...counters, [key]: n - 1 } : others;
}

/** What several counts do to one item, as one update. */
export function summed(updates: readonly Update[]): Update {
  const [first = {}, ...others] = updates;
  if (others.length === 0) return first;
  const sum: Update = { set: {}, inc: {}, max: {}, min: {} };
  for (const { set, inc, max, min } of updates) {
    Object.assign(sum.set ?? {}, set);
    for (const path in inc) (sum.inc ??= {})[path] = (sum.inc[path] ?? 0) + (inc[path] ?? 0);
    for (const path in max) (sum.max ??= {})[path] = later(sum.max[path], max[path] as string);
    for (const path in min) (sum.min ??= {})[path] = earlier(sum.min[path], min[path] as string);
  }
  const unset = updates.flatMap((update) => update.unset ?? []);
  return unset.length === 0 ? sum : { ...sum, unset };
}

const later = (a: string | number | undefined, b: string): string => (a === undefined || String(a) < b ? b : String(a));
const earlier = (a: string | number | undefined, b: string): string =>
  a === undefined || String(a) > b ? b : String(a);
