import type joi from 'joi';
import { getFormFields, fromForm, type HttpRequest } from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { DEFAULT_TERMS, type Entitlement } from '../model/terms.js';
import { normalizeEmptyFields, type LicenseFields, type NewLicense } from '../model/fields.js';

const DAY_PATTERN = /^\d{4}-\d\d-\d\d$/;

export function getFormText(request: HttpRequest, name: string): string {
  const value = getFormFields(request)[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** A bare day means its end in UTC, an empty field no end. */
export function parseEndDate(request: HttpRequest, name = 'expires_at'): string | null {
  const text = getFormText(request, name);
  if (text === '') return null;
  return DAY_PATTERN.test(text) ? `${text}T23:59:59.000Z` : text;
}

/**
 * Formats a UTC day for a date input.
 * @param end RFC 3339
 */
export const toDay = (end: string | null): string => end?.slice(0, 10) ?? '';

function parseNumberField(request: HttpRequest, name: string): unknown {
  const text = getFormText(request, name);
  if (text === '') return null;
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}

/** @throws ServiceError validation_failed */
function parseFeaturesField(request: HttpRequest): unknown {
  const text = getFormText(request, 'features');
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw invalid({ features: 'must be a JSON object such as {"seats": 5}' });
  }
}

/** An empty field has the default. */
function parseTermFields(request: HttpRequest): Record<string, unknown> {
  const { lease_seconds, overdraft, grace_days } = DEFAULT_TERMS;
  const defaults = { lease_seconds, overdraft, grace_days };
  return Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, parseNumberField(request, name) ?? value]),
  );
}

/** A name a line, and its last day (or RFC 3339) where it has one. */
export const parseEntitlementLines = (text: string): { name: string; until: string | null }[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [, name = line, until = null] = /^(.+?)\s+(\d{4}-\d\d-\d\d\S*)$/.exec(line) ?? [];
      return { name, until: until !== null && DAY_PATTERN.test(until) ? `${until}T23:59:59.000Z` : until };
    });

export const formatEntitlementLines = (list: readonly Entitlement[]): string =>
  list
    .map(({ name, until }) => (until === null ? name : `${name} ${until.replace(/T23:59:59\.000Z$/, '')}`))
    .join('\n');

/** @throws ServiceError validation_failed */
export function parseLicenseForm(request: HttpRequest, schema: joi.ObjectSchema): NewLicense & LicenseFields {
  const { product, client_ref } = getFormFields(request);
  const count = parseNumberField(request, 'count');
  const given = {
    product,
    ...(client_ref !== undefined && client_ref !== '' && { client_ref }),
    ...(count !== null && count !== 1 && { count }),
    licensee: getFormText(request, 'licensee'),
    email: getFormText(request, 'email'),
    notes: getFormText(request, 'notes'),
    features: parseFeaturesField(request),
    max_activations: parseNumberField(request, 'max_activations'),
    floating: getFormFields(request)['floating'] === 'true',
    ...parseTermFields(request),
    entitlements: parseEntitlementLines(getFormText(request, 'entitlements')),
    require_approval: getFormFields(request)['require_approval'] === 'true',
    expires_at: parseEndDate(request),
  };
  return normalizeEmptyFields(fromForm(schema, given) as NewLicense & LicenseFields);
}
