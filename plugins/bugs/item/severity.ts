/** Severity as numbers, and the rules that raise it (contract 20, severity). Pure. */
import type { Severity } from '../../../ports/domain/bugs.js';

export const SEVERITIES: readonly Severity[] = ['low', 'medium', 'high', 'critical'];

/** The rank, 0 low … 3 critical. */
export const rankOf = (severity: Severity): number => SEVERITIES.indexOf(severity);
/** The severity of a rank, kept within low … critical. */
export const severityOf = (rank: number): Severity => SEVERITIES[Math.max(0, Math.min(3, rank))] as Severity;

/** Occurrences in the rolling hour from which an item is at least high, and critical. */
export interface Rates {
  high: number;
  critical: number;
}

/** The rank that the hour's count alone asks for; 0 when none. */
export function rankOfRate(hourCount: number, rates: Rates): number {
  if (hourCount >= rates.critical) return 3;
  return hourCount >= rates.high ? 2 : 0;
}
