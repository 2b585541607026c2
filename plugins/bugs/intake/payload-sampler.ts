/** Counting never waits for it (contract 21, intake). */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { DEPS } from '../deps.js';
import type { ReportDetails } from '../../../ports/domain/bugs.js';
import type { DocumentWrite } from '../store/write-committer.js';
import type { ItemDoc } from '../item/model.js';
import type { OccurrenceDoc, StoredOccurrence } from '../item/occurrence-documents.js';
import { buildOccurrenceDocument } from '../item/first-document.js';
import type { IncomingReport } from './incoming-report.js';
import { scrubDetails } from '../text/scrub-report.js';
import { MAX_SLOTS, chooseSlot, SAMPLING_WINDOW_MS } from '../item/payload-sampling.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';
import type { Collection } from '../../../ports/store/index.js';

const MAX_CACHED_WINDOWS = 10_000;
const WINDOW_CACHE_TTL_MS = 60_000;

const NO_DETAILS: ReportDetails = { context: null, breadcrumbs: null };

interface SamplingWindow {
  n: number;
  /** The item's `sample_from`, and the same in milliseconds. */
  began: string;
  from: number;
  at: number;
}

@injectable()
export class PayloadSampler {
  readonly #windows = new BoundedMap<SamplingWindow>({ most: MAX_CACHED_WINDOWS });

  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.occurrences) private readonly occurrences: Collection<StoredOccurrence>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.random) private readonly random: () => number,
  ) {}

  /**
   * Stores the payload together with the count, in the slot of the cached window. If another
   * process has taken it, the store rejects the insert, and the exact count decides. If the count
   * fails, the payload may stay.
   * @returns null if not stored; undefined if no window is cached
   */
  planWrite(itemId: string, incoming: IncomingReport): DocumentWrite | null | undefined {
    const window = this.#windows.get(itemId);
    if (window === undefined || this.clock.monotonic() - window.at > WINDOW_CACHE_TTL_MS) return undefined;
    if (incoming.now - window.from > SAMPLING_WINDOW_MS) return undefined;
    window.n += 1;
    const slot = chooseSlot(window.n, this.random);
    if (slot === null) return null;
    const payload = this.#buildPayload(itemId, slot, incoming);
    const collection = 'occurrences';
    return window.n > MAX_SLOTS ? { collection, put: payload } : { collection, insert: payload };
  }

  buildFirst(itemId: string, incoming: IncomingReport): OccurrenceDoc {
    return this.#buildPayload(itemId, 0, incoming);
  }

  #buildPayload(itemId: string, slot: number, incoming: IncomingReport): OccurrenceDoc {
    const details = scrubDetails(incoming.details?.() ?? NO_DETAILS);
    return buildOccurrenceDocument(incoming.payload, details, itemId, slot, this.ids.uuid(), incoming);
  }

  async sample(doc: ItemDoc, incoming: IncomingReport): Promise<boolean> {
    const n = await this.#getPosition(doc, incoming.now);
    return this.#savePayload(doc.id, chooseSlot(n, this.random), incoming);
  }

  cacheWindow({ id, hit_count, sample_base, sample_from: began }: ItemDoc): void {
    const n = hit_count - sample_base;
    const at = this.clock.monotonic();
    const window = this.#windows.get(id);
    if (window?.began === began) Object.assign(window, { n, at });
    else this.#windows.set(id, { n, began, from: Date.parse(began), at });
  }

  async #savePayload(itemId: string, slot: number | null, incoming: IncomingReport): Promise<boolean> {
    if (slot === null) return false;
    await this.occurrences.bulk([{ put: this.#buildPayload(itemId, slot, incoming) }]);
    return true;
  }

  /** A new window starts after 30 days. */
  async #getPosition(doc: ItemDoc, now: number): Promise<number> {
    if (now - Date.parse(doc.sample_from) <= SAMPLING_WINDOW_MS) return Math.max(1, doc.hit_count - doc.sample_base);
    const fresh = { sample_base: doc.hit_count - 1, sample_from: new Date(now).toISOString() };
    await this.items.change({ id: doc.id, sample_from: doc.sample_from }, { set: fresh });
    return 1;
  }
}
