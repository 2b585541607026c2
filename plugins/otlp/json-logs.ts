import type { Json } from '../../ports/store/index.js';
import { MAX_DEPTH, MAX_ATTRIBUTES, createAttributes, toText, type Attributes } from './attributes.js';
import { MAX_RECORDS, InvalidLogsError, type LogRecord, type ParsedLogs } from './log-record.js';

type UntypedRecord = Readonly<Record<string, unknown>>;

const toRecord = (value: unknown): UntypedRecord | null =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as UntypedRecord) : null;
const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const getString = (value: unknown): string | null => (typeof value === 'string' ? toText(value) : null);

export function parseJsonLogs(body: unknown): ParsedLogs {
  const given = toRecord(body)?.['resourceLogs'];
  if (toRecord(body) === null || (given !== undefined && !Array.isArray(given))) {
    throw new InvalidLogsError('An OTLP request must be a JSON object with a list `resourceLogs`.');
  }
  const records: LogRecord[] = [];
  for (const resourceLogs of toList(given)) {
    const { resource, scopeLogs } = toRecord(resourceLogs) ?? {};
    const about = parseAttributes(toRecord(resource)?.['attributes'], 0);
    for (const scoped of toList(scopeLogs)) {
      const { scope, logRecords } = toRecord(scoped) ?? {};
      for (const one of toList(logRecords)) {
        if (records.length === MAX_RECORDS)
          throw new InvalidLogsError(`The request has more than ${MAX_RECORDS} records.`);
        records.push(parseLogRecord(toRecord(one) ?? {}, about, getString(toRecord(scope)?.['name'])));
      }
    }
  }
  return { records, skipped: 0 };
}

function parseLogRecord(given: UntypedRecord, resource: Attributes, scope: string | null): LogRecord {
  const severity = given['severityNumber'];
  return {
    resource,
    scope,
    time: parseNanoseconds(given['timeUnixNano']) ?? parseNanoseconds(given['observedTimeUnixNano']),
    severity: typeof severity === 'number' ? severity : parseSeverityName(severity),
    severityText: getString(given['severityText']),
    body: parseValue(given['body'], 0),
    attributes: parseAttributes(given['attributes'], 0),
    traceId: parseId(given['traceId']),
    spanId: parseId(given['spanId']),
  };
}

const SEVERITY_RANGES: Readonly<Record<string, number>> = { ERROR: 17, FATAL: 21 };

/** Some writers send the enumeration name: `SEVERITY_NUMBER_ERROR2`. */
function parseSeverityName(value: unknown): number {
  const [, range = ''] = /^SEVERITY_NUMBER_([A-Z]{4,5})[234]?$/.exec(getString(value) ?? '') ?? [];
  return SEVERITY_RANGES[range] ?? 0;
}

function parseNanoseconds(value: unknown): string | null {
  const digits = typeof value === 'number' ? String(value) : getString(value);
  return digits !== null && /^[1-9]\d{0,19}$/.test(digits) ? digits : null;
}

const parseId = (value: unknown): string | null => {
  const id = getString(value)?.toLowerCase() ?? '';
  return /^[0-9a-f]{16,32}$/.test(id) && !/^0+$/.test(id) ? id : null;
};

function parseAttributes(value: unknown, depth: number): Attributes {
  const attributes = createAttributes();
  for (const one of toList(value).slice(0, MAX_ATTRIBUTES)) {
    const pair = toRecord(one);
    const key = pair?.['key'];
    if (typeof key === 'string') attributes[key] = parseValue(pair?.['value'], depth);
  }
  return attributes;
}

/** `{stringValue: 'x'}` and similar. */
function parseValue(value: unknown, depth: number): Json {
  const given = toRecord(value);
  if (given === null || depth > MAX_DEPTH) return null;
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = given;
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  if (intValue !== undefined) return parseInteger(intValue);
  if (doubleValue !== undefined) return parseInteger(doubleValue);
  if (typeof bytesValue === 'string') return bytesValue;
  if (arrayValue !== undefined) {
    return toList(toRecord(arrayValue)?.['values'])
      .slice(0, MAX_ATTRIBUTES)
      .map((one) => parseValue(one, depth + 1));
  }
  return kvlistValue === undefined ? null : { ...parseAttributes(toRecord(kvlistValue)?.['values'], depth + 1) };
}

/** A number that is too large to be exact stays text. */
function parseInteger(value: unknown): Json {
  if (typeof value === 'number') return value;
  const given = getString(value);
  const number = Number(given);
  if (given === null || Number.isNaN(number)) return given;
  return Number.isSafeInteger(number) || given.includes('.') ? number : given;
}
