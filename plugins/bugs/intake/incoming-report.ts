import type { Report } from '../../../ports/domain/bugs.js';
import type { Moment } from './first-document.js';

/** One report on its way. */
export interface IncomingReport extends Moment {
  report: Report;
  key: string;
  ref: { id: string; helper: boolean } | null;
  /** The item had no origin before; this report brings one. */
  adopted: boolean;
}
