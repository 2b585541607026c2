import type joi from 'joi';
import { fromForm, getSecondsUntil, type HttpRequest } from '../../../kernel/contract/index.js';
import { invalid, ServiceError } from '../../../kernel/errors.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { compilePattern } from './compiled-pattern.js';
import type { RuleCriteria, IgnoreRuleFields } from './rule.js';

/** `keep` preserves the stored time. */
export const EXPIRY_OPTIONS = [
  { value: '1', label: 'In 1 day' },
  { value: '7', label: 'In 1 week' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
] as const;

export type RuleFormValues = Record<string, string>;

export function getRuleFormFields(request: HttpRequest): RuleFormValues {
  const form: object = request.body !== null && typeof request.body === 'object' ? request.body : {};
  const fields = Object.entries(form).map(([name, value]): [string, unknown] => [name, [value].flat()[0]]);
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'));
}

/**
 * Reports all errors by field.
 * @param now milliseconds
 * @throws ServiceError validation_failed
 */
export function validateRuleForm(
  form: RuleFormValues,
  schema: joi.ObjectSchema,
  now: number,
): ReturnType<typeof parseRuleForm> {
  const faults: Record<string, string> = {};
  const noted = <T>(run: () => T): T | undefined => {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.fields === undefined) throw error;
      for (const [name, what] of Object.entries(error.fields)) faults[name] ??= what;
      return undefined;
    }
  };
  const body = noted(() => parseRuleForm(form, schema, now));
  if (!form['reason']?.trim()) faults['reason'] = 'Required';
  const { match_type, pattern = '' } = form;
  if (match_type === 'regex' && pattern !== '' && faults['pattern'] === undefined)
    noted(() => compilePattern({ match_type, pattern, case_sensitive: false, project: null, environment: null }));
  if (body === undefined || Object.keys(faults).length > 0) throw invalid(faults);
  return body;
}

export function parseRuleForm(
  form: RuleFormValues,
  schema: joi.ObjectSchema,
  now: number,
): IgnoreRuleFields & Pick<RuleCriteria, 'match_type' | 'pattern'> {
  const days = Number(form['expires']);
  const seconds = getSecondsUntil(form['expires_on'] ?? '', now);
  const given = {
    name: form['name'],
    match_type: form['match_type'],
    pattern: form['pattern'],
    case_sensitive: form['case_sensitive'] === 'true',
    project: form['project'] ?? '',
    environment: form['environment'] ?? '',
    reason: form['reason'] ?? '',
    alarm_threshold: form['alarm_threshold']?.trim() ? Number(form['alarm_threshold']) : null,
    enabled: form['enabled'] === 'true',
    ...(seconds !== null
      ? { expires_at: toIsoString(now + seconds * 1000) }
      : form['expires'] !== 'keep' && {
          expires_at: days > 0 && days < 10_000 ? toIsoString(now + days * DAY_MS) : null,
        }),
  };
  return fromForm(schema, given) as ReturnType<typeof parseRuleForm>;
}
