/** Urgency of an error by level and environment (contract 21, intake: urgency). */

type ErrorLevel = 'fatal' | 'error' | 'warning';
type Severity = 'low' | 'medium' | 'high' | 'critical';

const LOWER = new Set(['dev', 'development', 'local', 'test', 'testing', 'ci', 'qa', 'staging']);
const URGENCY: Record<ErrorLevel, readonly [production: Severity, elsewhere: Severity]> = {
  fatal: ['critical', 'high'],
  error: ['high', 'medium'],
  warning: ['medium', 'low'],
};

/**
 * Maps fatal → critical, error → high, warning → medium; one level lower in development, test and
 * staging.
 */
export function getUrgency(level: ErrorLevel, environment: string | null | undefined): Severity {
  const lower = LOWER.has((environment ?? '').trim().toLowerCase());
  return URGENCY[level][lower ? 1 : 0];
}
