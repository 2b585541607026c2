import { MONITOR_SOURCE_PATTERN } from '../../../ports/domain/watchdog.js';
import { parseCsv } from '../../../lib/text/csv.js';
import {
  readBoolean,
  NotImportable,
  readNumber,
  toFields,
  createSource,
  readTags,
  readText,
  type SourceFields,
  type ImportedMonitor,
} from './imported-monitor.js';

const TEXT_COLUMNS = ['name', 'schedule', 'timezone', 'description', 'os', 'project'] as const;
const NUMBER_COLUMNS = ['interval_seconds', 'period_seconds', 'grace_seconds', 'max_run_seconds'] as const;
const BOOLEAN_COLUMNS = ['public', 'group'] as const;
const MONITOR_COLUMNS: ReadonlySet<string> = new Set([
  'source',
  'parent_source',
  'tags',
  ...TEXT_COLUMNS,
  ...NUMBER_COLUMNS,
  ...BOOLEAN_COLUMNS,
]);
const PROBE_COLUMNS: ReadonlySet<string> = new Set(['kind', 'url', 'host', 'port']);
const NUMBER_PATTERN = /^-?\d+(?:\.\d+)?$/;
const TEXT_PROBE_FIELDS: ReadonlySet<string> = new Set([
  'expected_status',
  'contains',
  'keyword_absent',
  'json_value',
  'expected_record',
  'body',
]);

/** @throws NotImportable */
export function parseMonitorCsv(text: string): ImportedMonitor[] {
  const rows = parseCsv(text.replace(/^\ufeff/, '').trim());
  const columns = Object.keys(rows[0] ?? {});
  if (!columns.some((name) => name === 'source' || name === 'name'))
    throw new NotImportable('The first line of the file does not contain a column `source` or `name`.');
  const strange = columns.filter((name) => !MONITOR_COLUMNS.has(name) && toProbeField(name) === null);
  return rows.map((row, at) => toImportedMonitor(row, at, strange));
}

function toProbeField(column: string): string | null {
  if (PROBE_COLUMNS.has(column)) return column;
  return /^probe\.([a-z_]{1,40})$/.exec(column)?.[1] ?? null;
}

function toImportedMonitor(row: SourceFields, at: number, strange: readonly string[]): ImportedMonitor {
  const notes = strange.filter((name) => readText(row, name) !== null).map((name) => `Column ${name} not found.`);
  const name = readText(row, 'name') ?? readText(row, 'source') ?? `monitor ${at + 1}`;
  const source = readText(row, 'source');
  const isSource = source !== null && MONITOR_SOURCE_PATTERN.test(source);
  if (source !== null && !isSource) notes.push(`Its source ${source.slice(0, 100)} is not a valid monitor source.`);
  const wanted = isSource ? source : createSource(source ?? name);
  const probe = buildProbe(row);
  return {
    key: source ?? wanted,
    parent_key: readText(row, 'parent_source'),
    wanted,
    exact: isSource,
    identities: [`csv ${source ?? `name ${name}`}`],
    fields: {
      ...Object.fromEntries(TEXT_COLUMNS.flatMap((field) => toEntries(field, readText(row, field)))),
      ...Object.fromEntries(NUMBER_COLUMNS.flatMap((field) => toEntries(field, readNumber(row, field)))),
      ...Object.fromEntries(BOOLEAN_COLUMNS.flatMap((field) => toEntries(field, readBoolean(row, field)))),
      name: name.slice(0, 200),
      tags: readTags((readText(row, 'tags') ?? '').split(/[\s,;]+/), notes),
    },
    ...(probe !== null && { probe }),
    address: null,
    notes,
  };
}

const toEntries = <T>(name: string, value: T | null): [string, T][] => (value === null ? [] : [[name, value]]);

function buildProbe(row: SourceFields): SourceFields | null {
  const given = Object.keys(row).flatMap((column): [string, unknown][] => {
    const field = toProbeField(column);
    const text = readText(row, column);
    return field === null || text === null ? [] : [[field, parseValue(field, text)]];
  });
  const probe: SourceFields = Object.fromEntries(given);
  if (Object.keys(probe).length === 0) return null;
  const kind = probe['url'] !== undefined ? 'http' : probe['port'] !== undefined ? 'tcp' : undefined;
  return { ...(kind !== undefined && { kind }), ...probe };
}

function parseValue(field: string, text: string): unknown {
  if (TEXT_PROBE_FIELDS.has(field)) return text;
  if (field === 'headers') return toFields(text) ?? text;
  if (NUMBER_PATTERN.test(text)) return Number(text);
  return text === 'true' || text === 'false' ? text === 'true' : text;
}
