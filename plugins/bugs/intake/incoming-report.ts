import type { Report } from '../../../ports/domain/bugs.js';
import type { Moment } from './first-document.js';

/** One report on its way. */
export interface IncomingReport extends Moment {
  /** What the item is told: the report, or in its place what overflowed. */
  report: Report;
  /** What its occurrence keeps. */
  payload: Report;
  key: string;
  ref: { id: string; helper: boolean } | null;
  /** The item had no origin before; this report brings one. */
  adopted: boolean;
  /** The item is still to be made by this report: nobody else can know its id. */
  fresh: boolean;
  /** The flood rule led it here. */
  flooded: boolean;
}
