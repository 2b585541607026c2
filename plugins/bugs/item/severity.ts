import { invalid } from '../../../kernel/errors.js';
import type { Severity } from '../../../ports/domain/bugs.js';

export const SEVERITIES: readonly Severity[] = ['low', 'medium', 'high', 'critical'];

export const getSeverityRank = (severity: Severity): number => SEVERITIES.indexOf(severity);
export const toSeverity = (rank: number): Severity => SEVERITIES[Math.max(0, Math.min(3, rank))] as Severity;

/**
 * Reads from either field name (contract 20, values).
 * @param at prefix of the field names in errors
 * @throws ServiceError validation_failed when the two fields differ
 */
export function parseSeverity(
  { severity, urgency }: { severity?: Severity; urgency?: Severity },
  at = '',
): Severity | undefined {
  if (severity === undefined || urgency === undefined || severity === urgency) return severity ?? urgency;
  const problem = (other: string): string => `is an alias of ${other}, which has a different value: omit one`;
  throw invalid({ [`${at}severity`]: problem('urgency'), [`${at}urgency`]: problem('severity') });
}

/** Per rolling hour, for at least high and critical. */
export interface RateThresholds {
  high: number;
  critical: number;
}

export function getRateRank(hourCount: number, rates: RateThresholds): number {
  if (hourCount >= rates.critical) return 3;
  return hourCount >= rates.high ? 2 : 0;
}
