/** Keeps the payloads of a sample of an item's occurrences (contract 21, intake). Counting never waits for it. */
import { inject, injectable } from '../../../kernel/contract.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { Details } from '../../../ports/domain/bugs.js';
import type { Write } from '../store/commit.js';
import type { ItemDoc } from '../item/model.js';
import type { OccurrenceDoc } from '../item/occurrence-documents.js';
import { buildOccurrenceDocument } from '../item/first-document.js';
import type { IncomingReport } from './incoming-report.js';
import { scrubDetails } from '../text/scrub.js';
import { KEPT, chooseSlot, WINDOW_MS } from '../item/sampling.js';

/** Items whose sampling window this process has in memory. */
const WINDOWS = 10_000;
/** Time for which a known window is trusted: other processes count too. */
const WINDOW_KNOWN_MS = 60_000;

const NO_DETAILS: Details = { context: null, breadcrumbs: null };

/** The position in an item's sampling window, as the last count answered. */
interface Window {
  n: number;
  /** The item's `sample_from`, and as milliseconds. */
  began: string;
  from: number;
  /** Monotonic milliseconds of that answer. */
  at: number;
}

@injectable()
export class PayloadSampler {
  readonly #windows = new BoundedMap<Window>({ most: WINDOWS });

  constructor(@inject(DEPS) private readonly deps: BugDeps) {}

  /**
   * The write that keeps the payload, made together with the count. The slot follows from this process's knowledge of
   * the item's window. Each of the first 50 has a slot of its own, so the write is an insert: when another process has
   * taken the slot, the store refuses it, and the exact count decides. If the count fails, the store may keep a payload
   * whose report was not acknowledged.
   * @returns null: the payload is not kept; undefined: the window is not known
   */
  planned(itemId: string, incoming: IncomingReport): Write | null | undefined {
    const window = this.#windows.get(itemId);
    if (window === undefined || this.deps.clock.monotonic() - window.at > WINDOW_KNOWN_MS) return undefined;
    if (incoming.now - window.from > WINDOW_MS) return undefined;
    window.n += 1;
    const slot = chooseSlot(window.n, this.deps.random);
    if (slot === null) return null;
    const payload = this.#payload(itemId, slot, incoming);
    const collection = 'occurrences';
    return window.n > KEPT ? { collection, put: payload } : { collection, insert: payload };
  }

  /** The payload of the report that makes the item, stored together with the item's texts: the first is always kept. */
  first(itemId: string, incoming: IncomingReport): OccurrenceDoc {
    return this.#payload(itemId, 0, incoming);
  }

  #payload(itemId: string, slot: number, incoming: IncomingReport): OccurrenceDoc {
    const details = scrubDetails(incoming.details?.() ?? NO_DETAILS);
    return buildOccurrenceDocument(incoming.payload, details, itemId, slot, this.deps.ids.uuid(), incoming);
  }

  /** Keeps the payload if its turn comes; true when it was kept. */
  async sample(doc: ItemDoc, incoming: IncomingReport): Promise<boolean> {
    const n = await this.#position(doc, incoming.now);
    return this.#keep(doc.id, chooseSlot(n, this.deps.random), incoming);
  }

  /** Remembers the position in the item's window. */
  counted({ id, hit_count, sample_base, sample_from: began }: ItemDoc): void {
    const n = hit_count - sample_base;
    const at = this.deps.clock.monotonic();
    const window = this.#windows.get(id);
    // A new entry only for a new window: each count passes here.
    if (window?.began === began) Object.assign(window, { n, at });
    else this.#windows.set(id, { n, began, from: Date.parse(began), at });
  }

  async #keep(itemId: string, slot: number | null, incoming: IncomingReport): Promise<boolean> {
    if (slot === null) return false;
    await this.deps.occurrences.bulk([{ put: this.#payload(itemId, slot, incoming) }]);
    return true;
  }

  /** The position of this occurrence in the sampling window; after 30 days a new window begins. */
  async #position(doc: ItemDoc, now: number): Promise<number> {
    if (now - Date.parse(doc.sample_from) <= WINDOW_MS) return Math.max(1, doc.hit_count - doc.sample_base);
    const fresh = { sample_base: doc.hit_count - 1, sample_from: new Date(now).toISOString() };
    await this.deps.items.change({ id: doc.id, sample_from: doc.sample_from }, { set: fresh });
    return 1;
  }
}
