import type { ServiceError } from '../../../kernel/errors.js';
import type { MonitorFields } from '../../../ports/domain/watchdog.js';

export type MonitorInput = Omit<MonitorFields, 'source'> & { probe?: Record<string, unknown> | null };

const DEPENDENT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  schedule: ['schedule', 'timezone', 'grace_seconds'],
  timezone: ['schedule', 'timezone', 'grace_seconds'],
  period_seconds: ['period_seconds', 'grace_seconds'],
  json_path: ['json_path', 'json_value'],
};
/** Without these the whole probe is removed. */
const ESSENTIAL_FIELDS: ReadonlySet<string> = new Set([
  'kind',
  'url',
  'host',
  'port',
  'inverted',
  'insecure',
  'resolver',
]);

function omitFields<T extends object>(from: T, names: readonly string[]): T {
  return Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name))) as T;
}

export function removeRejectedFields(
  given: MonitorInput,
  { code, fields, message }: ServiceError,
): { fields: MonitorInput; note: string } | null {
  if (code === 'conflict' && given.parent_source)
    return { fields: omitFields(given, ['parent_source']), note: `Its parent: ${message}` };
  if (code !== 'validation_failed') return null;
  let left = given;
  for (const path of Object.keys(fields ?? {})) {
    const [name = '', member = ''] = path.split('.');
    const { probe } = left;
    if (name !== 'probe') left = omitFields(left, DEPENDENT_FIELDS[name] ?? [name]);
    else if (probe && member in probe && !ESSENTIAL_FIELDS.has(member))
      left = { ...left, probe: omitFields(probe, DEPENDENT_FIELDS[member] ?? [member]) };
    else left = omitFields(left, ['probe']);
  }
  const faults = Object.entries(fields ?? {}).map(([field, text]) => `${field} ${text}`);
  const isSmaller = JSON.stringify(left) !== JSON.stringify(given);
  return isSmaller ? { fields: left, note: `Omitted, because it is not valid: ${faults.join('; ')}.` } : null;
}
