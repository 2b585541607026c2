/** One report on its way through the intake. */
import type { Print } from '../../../lib/text/distinct-sketch.js';
import type { RecordOptions, Report } from '../../../ports/domain/bugs.js';
import type { Decision, Keyed } from '../groups/keys.js';
import type { Moment } from '../item/first-document.js';
import type { ItemDoc, ItemOutboxEntry } from '../item/model.js';
import type { Write } from '../store/commit.js';

/** A report as it will be stored, with the keys of its item; `Acceptance` makes it. */
export interface AcceptedReport extends Moment {
  report: Report;
  /** The report's own title, which a grouping rule may have replaced in `report`. */
  own_title: string;
  details: RecordOptions['details'];
  /** Who had the error; null: the report names nobody. */
  person: Print | null;
  /** Its grouping keys. */
  keyed: Keyed;
  /** Its `client_ref`; null: it has none. */
  ref: OwnReference | null;
}

export interface OwnReference {
  /** The id of its document (store/client-refs.ts). */
  id: string;
  /** This call has bound the reference to an item that has not counted it yet. */
  opened: boolean;
}

/** The place where a report is counted: an item that exists, or one to be made. */
export interface Placement extends Decision {
  /** The keys that led there: the report's own, or those of the overflow item. */
  keyed: Keyed;
  /** The report for its item; for the overflow item, its stand-in. */
  report: Report;
}

/** A reference as the write of its count treats it. */
export interface CountedReference {
  id: string;
  /**
   * Writes to make together with the count. Empty when the store has the reference, bound to the item: then the count
   * notes it in the item.
   */
  along: readonly Write[];
  /** Another call bound the reference, and this one counts in its place. */
  helper: boolean;
}

/** A report and the place where it is counted. */
export interface IncomingReport extends Moment {
  /** As in `Placement`. */
  report: Report;
  /** The report that the occurrence keeps. */
  payload: Report;
  /** The details of that report. */
  details: RecordOptions['details'];
  /** As in `AcceptedReport`. */
  person: Print | null;
  key: string;
  ref: CountedReference | null;
  /** The item had no origin before; this report brings one. */
  adopted: boolean;
  /** The flood rule chose the item. */
  flooded: boolean;
}

/** The result of a count. */
export interface Counted {
  doc: ItemDoc;
  outcome: 'created' | 'counted' | 'repeated';
  /** This occurrence reopened the item. */
  regression: boolean;
  /** The outbox entries of this write. */
  entries: readonly ItemOutboxEntry[];
  /** Whether the payload was kept, when it was decided together with the count. Null: still to be decided. */
  sampled: boolean | null;
  incoming: IncomingReport;
}

export const toIncomingReport = (
  { now, occurred, report: payload, details, person }: AcceptedReport,
  { keyed, report, adopted, flooded }: Placement,
  ref: CountedReference | null,
): IncomingReport => ({ now, occurred, report, payload, details, person, key: keyed.dedup_key, ref, adopted, flooded });

/** Whether the item must note the reference, because the store has it already (store/client-refs.ts). */
export const needsReferenceNote = (ref: CountedReference | null): ref is CountedReference =>
  ref !== null && ref.along.length === 0;
