/** How urgent an error is, from its level and where it happened (contract 21, intake: urgency). */

type ErrorLevel = 'fatal' | 'error' | 'warning';
type Severity = 'low' | 'medium' | 'high' | 'critical';

/** Environments whose errors wake no one up. */
const LOWER = new Set(['dev', 'development', 'local', 'test', 'testing', 'ci', 'qa', 'staging']);
const URGENCY: Record<ErrorLevel, readonly [production: Severity, elsewhere: Severity]> = {
  fatal: ['critical', 'high'],
  error: ['high', 'medium'],
  warning: ['medium', 'low'],
};

/** fatal → critical, error → high, warning → medium; one step lower in development, test and staging environments. */
export function getUrgency(level: ErrorLevel, environment: string | null | undefined): Severity {
  const lower = LOWER.has((environment ?? '').trim().toLowerCase());
  return URGENCY[level][lower ? 1 : 0];
}
