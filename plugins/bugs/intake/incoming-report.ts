import type { SketchHash } from '../../../lib/text/distinct-sketch.js';
import type { RecordOptions, Report } from '../../../ports/domain/bugs.js';
import type { GroupDecision, KeyedReport } from '../groups/grouping-keys.js';
import type { ReportTimes } from '../item/first-document.js';
import type { ItemDoc, ItemOutboxEntry } from '../item/model.js';
import type { DocumentWrite } from '../store/write-committer.js';

export interface AcceptedReport extends ReportTimes {
  report: Report;
  own_title: string;
  details: RecordOptions['details'];
  person: SketchHash | null;
  keyed: KeyedReport;
  ref: ReportReference | null;
}

export interface ReportReference {
  id: string;
  /** This call has bound the reference to an item that has not counted it yet. */
  opened: boolean;
}

export interface Placement extends GroupDecision {
  /** The report's own, or the overflow item's. */
  keyed: KeyedReport;
  /** For the overflow item, its placeholder. */
  report: Report;
}

export interface CountedReference {
  id: string;
  /** Empty if the reference is already stored; the count then notes it in the item. */
  along: readonly DocumentWrite[];
  /** Another call bound the reference, and this one counts on its behalf. */
  helper: boolean;
}

export interface IncomingReport extends ReportTimes {
  report: Report;
  payload: Report;
  details: RecordOptions['details'];
  person: SketchHash | null;
  key: string;
  ref: CountedReference | null;
  adopted: boolean;
  flooded: boolean;
}

export interface CountResult {
  doc: ItemDoc;
  outcome: 'created' | 'counted' | 'repeated';
  regression: boolean;
  entries: readonly ItemOutboxEntry[];
  /** Null if undecided. */
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
