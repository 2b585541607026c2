/**
 * From the management API or CSV. `GET /api/v3/checks/` needs a read-write key for `ping_url`
 * (https://healthchecks.io/docs/api/).
 */
import {
  readBoolean,
  parseList,
  readNumber,
  createSource,
  readTags,
  readText,
  type SourceFields,
  type ImportedMonitor,
} from './imported-monitor.js';

const UUID_PATTERN = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/?$/i;
const DEFAULT_GRACE_SECONDS = 3_600;
const FILTER_NOTES: readonly [name: string, note: string][] = [
  ['filter_subject', 'Filter by e-mail subject: pings by e-mail are not supported.'],
  ['filter_body', 'Filter by e-mail text: pings by e-mail are not supported.'],
  ['filter_http_body', 'Filter by request body: the ping URL alone determines the result.'],
  ['filter_default_fail', 'Pings without a matching filter were failures: the ping URL alone determines the result.'],
];
const KEYWORD_FIELDS = ['subject', 'subject_fail', 'start_kw', 'success_kw', 'failure_kw'];

/** @throws NotImportable */
export const parseHealthchecks = (text: string): ImportedMonitor[] =>
  parseList(text, { names: ['checks'], columns: ['name'], what: 'the response of GET /api/v3/checks/' }).map(
    toImportedMonitor,
  );

function toImportedMonitor(check: SourceFields, at: number): ImportedMonitor {
  const notes = collectNotes(check);
  const slug = readText(check, 'slug');
  const name = readText(check, 'name') ?? slug ?? `check ${at + 1}`;
  const uuid =
    UUID_PATTERN.exec(readText(check, 'uuid') ?? readText(check, 'ping_url') ?? '')?.[1]?.toLowerCase() ?? null;
  if (uuid === null) notes.push('The ping URL is not in the file (a read-only key?): create a token for the monitor.');
  const unique = readText(check, 'unique_key');
  const tags = readTags((readText(check, 'tags') ?? '').split(/\s+/), notes);
  return {
    key: uuid ?? String(at),
    parent_key: null,
    wanted: createSource(slug ?? name),
    identities: uuid !== null ? [] : [`healthchecks ${unique ?? `name ${name}`}`],
    fields: {
      name: name.slice(0, 200),
      description: readText(check, 'desc')?.slice(0, 5_000) ?? null,
      tags,
      ...parseTiming(check, notes),
    },
    address: uuid,
    notes,
  };
}

function collectNotes(check: SourceFields): string[] {
  const notes: string[] = [];
  if (readText(check, 'slug') !== null)
    notes.push('Ping URL with ping key and slug: only the ping URL with its ID works.');
  if (readText(check, 'channels') !== null) notes.push('Integrations: create channels or webhooks.');
  if (readBoolean(check, 'manual_resume') === true) notes.push('Manual resume: here a heartbeat resumes it.');
  if (readText(check, 'methods') !== null) notes.push('Only POST was allowed; here GET and POST are.');
  for (const [field, note] of FILTER_NOTES) if (readBoolean(check, field) === true) notes.push(note);
  if (KEYWORD_FIELDS.some((field) => readText(check, field) !== null))
    notes.push('Keywords (of subjects, e-mails and bodies) are not checked.');
  if (readText(check, 'status') === 'paused') notes.push('It was paused; here it waits for its first ping.');
  return notes;
}

function parseTiming(check: SourceFields, notes: string[]): Omit<ImportedMonitor['fields'], 'tags'> {
  const schedule = readText(check, 'schedule');
  const grace_seconds = Math.max(1, readNumber(check, 'grace') ?? DEFAULT_GRACE_SECONDS);
  if (schedule !== null) return { schedule, timezone: readText(check, 'tz') ?? 'UTC', grace_seconds };
  const timeout = readNumber(check, 'timeout');
  if (timeout !== null) return { period_seconds: Math.max(1, timeout), grace_seconds };
  notes.push('The file contains neither its period nor its schedule: its interval is derived from its pings.');
  return {};
}
