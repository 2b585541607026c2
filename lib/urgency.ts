/** Urgency of an error by level and environment (contract 21, intake: urgency). */

type ErrorLevel = 'fatal' | 'error' | 'warning';
type Severity = 'low' | 'medium' | 'high' | 'critical';

const NON_PRODUCTION_ENVIRONMENTS = new Set(['dev', 'development', 'local', 'test', 'testing', 'ci', 'qa', 'staging']);
const URGENCY_BY_LEVEL: Record<ErrorLevel, readonly [production: Severity, elsewhere: Severity]> = {
  fatal: ['critical', 'high'],
  error: ['high', 'medium'],
  warning: ['medium', 'low'],
};

/**
 * Maps fatal → critical, error → high, warning → medium; one level lower in development, test and
 * staging.
 */
export function getUrgency(level: ErrorLevel, environment: string | null | undefined): Severity {
  const lower = NON_PRODUCTION_ENVIRONMENTS.has((environment ?? '').trim().toLowerCase());
  return URGENCY_BY_LEVEL[level][lower ? 1 : 0];
}
