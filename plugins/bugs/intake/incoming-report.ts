import type { Report } from '../../../ports/domain/bugs.js';
import type { RefDoc } from '../item/model.js';
import type { Moment } from '../item/first-document.js';

/** The report's `client_ref` (client-refs.ts). */
export interface Reference {
  /** Of its document. */
  id: string;
  /** The call counts in the place of another one that bound it. */
  helper: boolean;
  /** The document, when it is still to be written: in one transaction with the count. Then the item needs no note. */
  unwritten?: RefDoc;
}

/** One report during intake. */
export interface IncomingReport extends Moment {
  /** The report for the item; for the overflow item, its stand-in. */
  report: Report;
  /** The report that the occurrence keeps. */
  payload: Report;
  key: string;
  ref: Reference | null;
  /** The item had no origin before; this report brings one. */
  adopted: boolean;
  /** This report creates the item: no other call can know its id. */
  fresh: boolean;
  /** The flood rule led it here. */
  flooded: boolean;
}
