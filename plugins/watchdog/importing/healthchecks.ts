/**
 * Checks of Healthchecks, as its management API lists them: `GET /api/v3/checks/` with a key that may write, whose
 * answer holds `ping_url` (https://healthchecks.io/docs/api/). Pure.
 */
import { listIn, numberIn, sourceOf, textIn, type Fields, type ImportedMonitor } from './imported.js';

const UUID = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/?$/i;
const DEFAULT_GRACE = 3_600;
const FILTERS = ['subject', 'subject_fail', 'start_kw', 'success_kw', 'failure_kw'];

/** @throws NotImportable */
export const checksOf = (text: string): ImportedMonitor[] =>
  listIn(text, ['checks'], 'the answer of GET /api/v3/checks/').map(monitorOf);

function monitorOf(check: Fields, at: number): ImportedMonitor {
  const notes: string[] = [];
  const name = textIn(check, 'name') ?? textIn(check, 'slug') ?? `check ${at + 1}`;
  const uuid = UUID.exec(textIn(check, 'uuid') ?? textIn(check, 'ping_url') ?? '')?.[1]?.toLowerCase() ?? null;
  if (uuid === null) notes.push('Its ping address is not in the file (a read-only key?): make it a token of its own.');
  const tags = textIn(check, 'tags');
  const description = [textIn(check, 'desc'), tags && `Tags: ${tags}`].filter(Boolean).join('\n').slice(0, 5_000);
  if (textIn(check, 'channels') !== null) notes.push('Its integrations: make channels or webhooks.');
  if (check['manual_resume'] === true) notes.push('It had to be resumed by hand; here a heartbeat resumes it.');
  if (textIn(check, 'methods') !== null) notes.push('Only POST was taken; here GET and POST are.');
  if (FILTERS.some((field) => textIn(check, field) !== null))
    notes.push('Its keywords for e-mail: there is no e-mail in.');
  if (textIn(check, 'status') === 'paused') notes.push('It was paused; here it waits for its first ping.');
  return {
    key: uuid ?? String(at),
    parent_key: null,
    wanted: sourceOf(textIn(check, 'slug') ?? name),
    fields: { name: name.slice(0, 200), description: description || null, ...timingOf(check) },
    probe: null,
    address: uuid,
    notes,
  };
}

/** A schedule or a period as it is, with its grace. */
function timingOf(check: Fields): ImportedMonitor['fields'] {
  const schedule = textIn(check, 'schedule');
  const grace_seconds = Math.max(1, numberIn(check, 'grace') ?? DEFAULT_GRACE);
  if (schedule !== null) return { schedule, timezone: textIn(check, 'tz') ?? 'UTC', grace_seconds };
  const timeout = numberIn(check, 'timeout');
  return timeout === null ? {} : { period_seconds: Math.max(1, timeout), grace_seconds };
}
