import type { Report } from '../../../ports/domain/bugs.js';
import type { Moment } from './first-document.js';

/** One report during intake. */
export interface IncomingReport extends Moment {
  /** The report for the item; for the overflow item, its stand-in. */
  report: Report;
  /** The report that the occurrence keeps. */
  payload: Report;
  key: string;
  ref: { id: string; helper: boolean } | null;
  /** The item had no origin before; this report brings one. */
  adopted: boolean;
  /** This report creates the item: no other call can know its id. */
  fresh: boolean;
  /** The flood rule led it here. */
  flooded: boolean;
}
