import type { Print } from '../../../lib/text/distinct-sketch.js';
import type { RecordOptions, Report } from '../../../ports/domain/bugs.js';
import type { Decision, Keyed } from '../groups/keys.js';
import type { Moment } from '../item/first-document.js';
import type { ItemDoc, ItemOutboxEntry } from '../item/model.js';
import type { Write } from '../store/commit.js';

export interface AcceptedReport extends Moment {
  report: Report;
  own_title: string;
  details: RecordOptions['details'];
  person: Print | null;
  keyed: Keyed;
  ref: OwnReference | null;
}

export interface OwnReference {
  id: string;
  /** This call has bound the reference to an item that has not counted it yet. */
  opened: boolean;
}

export interface Placement extends Decision {
  /** The keys that led there: the report's own, or those of the overflow item. */
  keyed: Keyed;
  /** The report for its item; for the overflow item, its placeholder. */
  report: Report;
}

export interface CountedReference {
  id: string;
  /**
   * Writes to make with the count. Empty if the reference is already stored; the count then notes
   * it in the item.
   */
  along: readonly Write[];
  /** Another call bound the reference, and this one counts on its behalf. */
  helper: boolean;
}

export interface IncomingReport extends Moment {
  report: Report;
  /** The report stored with the occurrence. */
  payload: Report;
  details: RecordOptions['details'];
  person: Print | null;
  key: string;
  ref: CountedReference | null;
  adopted: boolean;
  flooded: boolean;
}

export interface Counted {
  doc: ItemDoc;
  outcome: 'created' | 'counted' | 'repeated';
  regression: boolean;
  entries: readonly ItemOutboxEntry[];
  /** Whether the payload was stored together with the count; null if undecided. */
  sampled: boolean | null;
  incoming: IncomingReport;
}

export const toIncomingReport = (
  { now, occurred, report: payload, details, person }: AcceptedReport,
  { keyed, report, adopted, flooded }: Placement,
  ref: CountedReference | null,
): IncomingReport => ({ now, occurred, report, payload, details, person, key: keyed.dedup_key, ref, adopted, flooded });

export const needsReferenceNote = (ref: CountedReference | null): ref is CountedReference =>
  ref !== null && ref.along.length === 0;
