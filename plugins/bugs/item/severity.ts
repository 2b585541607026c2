/** Severity as numbers, and the rules that raise it (contract 20, severity). Pure. */
import { invalid } from '../../../kernel/errors.js';
import type { Severity } from '../../../ports/domain/bugs.js';

export const SEVERITIES: readonly Severity[] = ['low', 'medium', 'high', 'critical'];

/** The rank, 0 low … 3 critical. */
export const getSeverityRank = (severity: Severity): number => SEVERITIES.indexOf(severity);
/** The severity of a rank, kept within low … critical. */
export const toSeverity = (rank: number): Severity => SEVERITIES[Math.max(0, Math.min(3, rank))] as Severity;

/**
 * What a body says of it by either name (contract 20, values).
 * @param at what stands before the names of fields
 * @throws ServiceError validation_failed where the two say different things
 */
export function readSeverity(
  { severity, urgency }: { severity?: Severity; urgency?: Severity },
  at = '',
): Severity | undefined {
  if (severity === undefined || urgency === undefined || severity === urgency) return severity ?? urgency;
  const problem = (other: string): string => `is another name of ${other}, which has another value: leave one out`;
  throw invalid({ [`${at}severity`]: problem('urgency'), [`${at}urgency`]: problem('severity') });
}

/** Occurrences in the rolling hour from which an item is at least high, and critical. */
export interface Rates {
  high: number;
  critical: number;
}

/** The rank that the hour's count alone asks for; 0 when none. */
export function getRateRank(hourCount: number, rates: Rates): number {
  if (hourCount >= rates.critical) return 3;
  return hourCount >= rates.high ? 2 : 0;
}
