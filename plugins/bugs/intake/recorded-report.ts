/**
 * The result of a report (ports/domain/bugs.ts). Its item is made on first use, since few callers show all of it. The
 * getter belongs to a class: a getter in an object literal gives each object a shape of its own, which stays in the old
 * heap, with all that the getter sees, until a full collection.
 */
import type { Item, Recorded } from '../../../ports/domain/bugs.js';
import type { ItemDoc } from '../item/model.js';
import { hourCount } from '../item/rate.js';
import { itemView, statusAt } from '../item/view.js';

export interface Occurred {
  outcome: 'created' | 'counted' | 'repeated';
  /** The key that the report was grouped by; for a repeat, the key of its item. */
  dedup_key: string;
  regression: boolean;
  sampled: boolean;
  title: string;
  ignored_by: string | null;
}

export class RecordedReport implements Recorded {
  readonly id: string;
  readonly ref: string;
  readonly created: boolean;
  readonly deduplicated: boolean;
  readonly repeated: boolean;
  readonly dedup_key: string;
  readonly hit_count: number;
  readonly hour_count: number;
  readonly regression: boolean;
  readonly sampled: boolean;
  readonly title: string;
  readonly overflow: boolean;
  readonly ignored_by: string | null;
  readonly group: Recorded['group'];
  readonly #doc: ItemDoc;
  readonly #now: number;
  #item: Item | null;

  /** @param now milliseconds since 1970 @param item with its long texts, where they were asked for */
  constructor(doc: ItemDoc, occurred: Occurred, now: number, item: Item | null) {
    const { outcome } = occurred;
    this.id = doc.id;
    this.ref = doc.ref;
    this.created = outcome === 'created';
    this.deduplicated = outcome === 'counted';
    this.repeated = outcome === 'repeated';
    this.dedup_key = outcome === 'repeated' ? doc.dedup_key : occurred.dedup_key;
    this.hit_count = doc.hit_count;
    this.hour_count = hourCount(doc.minutes, now);
    this.regression = occurred.regression;
    this.sampled = occurred.sampled;
    this.title = occurred.title;
    this.overflow = doc.overflow === true;
    this.ignored_by = occurred.ignored_by;
    this.group = { title: doc.title, severity: doc.severity, status: statusAt(doc, now) };
    this.#doc = doc;
    this.#now = now;
    this.#item = item;
  }

  get item(): Item {
    return (this.#item ??= itemView(this.#doc, null, this.#now));
  }
}
