import type { Json } from '../../ports/store.js';
import { DEEPEST, MOST_ATTRIBUTES, noAttributes, textOf, type Attributes } from './attributes.js';
import { MOST_RECORDS, Unreadable, type LogRecord, type ReadLogs } from './log-record.js';

type Loose = Readonly<Record<string, unknown>>;

const record = (value: unknown): Loose | null =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Loose) : null;
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string | null => (typeof value === 'string' ? textOf(value) : null);

export function recordsOfJson(body: unknown): ReadLogs {
  const given = record(body)?.['resourceLogs'];
  if (record(body) === null || (given !== undefined && !Array.isArray(given))) {
    throw new Unreadable('A request of OTLP is a JSON object with `resourceLogs`, a list.');
  }
  const records: LogRecord[] = [];
  for (const resourceLogs of list(given)) {
    const { resource, scopeLogs } = record(resourceLogs) ?? {};
    const about = attributesOf(record(resource)?.['attributes'], 0);
    for (const scoped of list(scopeLogs)) {
      const { scope, logRecords } = record(scoped) ?? {};
      for (const one of list(logRecords)) {
        if (records.length === MOST_RECORDS) throw new Unreadable(`The request has more than ${MOST_RECORDS} records.`);
        records.push(recordOf(record(one) ?? {}, about, text(record(scope)?.['name'])));
      }
    }
  }
  return { records, skipped: 0 };
}

function recordOf(given: Loose, resource: Attributes, scope: string | null): LogRecord {
  const severity = given['severityNumber'];
  return {
    resource,
    scope,
    time: nanoseconds(given['timeUnixNano']) ?? nanoseconds(given['observedTimeUnixNano']),
    severity: typeof severity === 'number' ? severity : severityNamed(severity),
    severityText: text(given['severityText']),
    body: valueOf(given['body'], 0),
    attributes: attributesOf(given['attributes'], 0),
    traceId: idOf(given['traceId']),
    spanId: idOf(given['spanId']),
  };
}

const RANGES: Readonly<Record<string, number>> = { ERROR: 17, FATAL: 21 };

/** Some writers send the enumeration name: `SEVERITY_NUMBER_ERROR2`. */
function severityNamed(value: unknown): number {
  const [, range = ''] = /^SEVERITY_NUMBER_([A-Z]{4,5})[234]?$/.exec(text(value) ?? '') ?? [];
  return RANGES[range] ?? 0;
}

function nanoseconds(value: unknown): string | null {
  const digits = typeof value === 'number' ? String(value) : text(value);
  return digits !== null && /^[1-9]\d{0,19}$/.test(digits) ? digits : null;
}

const idOf = (value: unknown): string | null => {
  const id = text(value)?.toLowerCase() ?? '';
  return /^[0-9a-f]{16,32}$/.test(id) && !/^0+$/.test(id) ? id : null;
};

function attributesOf(value: unknown, depth: number): Attributes {
  const attributes = noAttributes();
  for (const one of list(value).slice(0, MOST_ATTRIBUTES)) {
    const pair = record(one);
    const key = pair?.['key'];
    if (typeof key === 'string') attributes[key] = valueOf(pair?.['value'], depth);
  }
  return attributes;
}

/** `{stringValue: 'x'}` and similar. */
function valueOf(value: unknown, depth: number): Json {
  const given = record(value);
  if (given === null || depth > DEEPEST) return null;
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = given;
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  if (intValue !== undefined) return numberOf(intValue);
  if (doubleValue !== undefined) return numberOf(doubleValue);
  if (typeof bytesValue === 'string') return bytesValue;
  if (arrayValue !== undefined) {
    return list(record(arrayValue)?.['values'])
      .slice(0, MOST_ATTRIBUTES)
      .map((one) => valueOf(one, depth + 1));
  }
  return kvlistValue === undefined ? null : { ...attributesOf(record(kvlistValue)?.['values'], depth + 1) };
}

/** A number that is too large to be exact stays text. */
function numberOf(value: unknown): Json {
  if (typeof value === 'number') return value;
  const given = text(value);
  const number = Number(given);
  if (given === null || Number.isNaN(number)) return given;
  return Number.isSafeInteger(number) || given.includes('.') ? number : given;
}
