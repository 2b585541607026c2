import type { Report } from '../../ports/domain/bugs.js';
import type { Moment } from './reported.js';

/** One report on its way. */
export interface Arrival extends Moment {
  report: Report;
  key: string;
  ref: { id: string; helper: boolean } | null;
  /** The item had no origin before; this report brings one. */
  adopted: boolean;
}
