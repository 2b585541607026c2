/** Severity as numbers, and the rules that raise it (contract 20, severity; contract 21, urgency). Pure. */
import type { ErrorLevel, Severity } from '../../../ports/domain/bugs.js';

export const SEVERITIES: readonly Severity[] = ['low', 'medium', 'high', 'critical'];
const LOWER_STEP = new Set(['dev', 'development', 'local', 'test', 'testing', 'ci', 'qa', 'staging']);
const BY_LEVEL: Record<ErrorLevel, number> = { warning: 1, error: 2, fatal: 3 };

/** 0 low … 3 critical. */
export const rankOf = (severity: Severity): number => SEVERITIES.indexOf(severity);
/** The severity of a rank, kept within low … critical. */
export const severityOf = (rank: number): Severity => SEVERITIES[Math.max(0, Math.min(3, rank))] as Severity;

/** Contract 21, urgency: fatal → critical, error → high, warning → medium; one step lower outside production. */
export function urgencyOf(level: ErrorLevel, environment: string | null | undefined): Severity {
  const lower = LOWER_STEP.has((environment ?? '').trim().toLowerCase()) ? 1 : 0;
  return severityOf(BY_LEVEL[level] - lower);
}

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
