/**
 * `session`, one session in several updates, and `sessions`, aggregated counts (contract 21,
 * release health).
 */
import type { SessionEntry, SessionOutcome, SessionReport, SessionTotals } from '../../ports/domain/release-health.js';
import { parseReleaseVersion } from './event-converter.js';
import { parseInstant } from './event-time.js';
import { toLine, toRecord, toRecords, toText, type UntypedRecord } from './untyped-values.js';

export const isSession = (type: string): boolean => type === 'session' || type === 'sessions';

/**
 * `unhandled` is an error that the platform survived, as in browsers. SDKs used to report it as
 * `crashed`, so it counts as a crash and figures stay comparable.
 */
const SESSION_OUTCOMES: Readonly<Record<string, SessionOutcome>> = {
  ok: 'ok',
  exited: 'ok',
  errored: 'errored',
  degraded: 'errored',
  unhandled: 'crashed',
  crashed: 'crashed',
  abnormal: 'abnormal',
};
const MAX_TEXT_LENGTH = 200;
/** SDKs aggregate and send sessions every minute. */
const MAX_ENTRIES = 500;
const MAX_HOURS = 24;
const MAX_SESSION_COUNT = 1_000_000;
const DEFAULT_ENVIRONMENT = 'production';

export type SessionMetadata = Pick<SessionReport, 'project' | 'sent_at'>;

const OPENING_BRACE = 0x7b;
/** One costs a tenth of an event. */
const ENTRIES_PER_UNIT = 10;

/** Minimum before parsing: each entry has a brace. */
export function estimateSessionUnits(payload: Buffer): number {
  let braces = 0;
  for (let at = payload.indexOf(OPENING_BRACE); at >= 0; at = payload.indexOf(OPENING_BRACE, at + 1)) braces++;
  return 1 + Math.floor(braces / ENTRIES_PER_UNIT);
}

export function parseSessions(type: string, payload: UntypedRecord, about: SessionMetadata): SessionReport | null {
  const attributes = toRecord(payload['attrs']) ?? {};
  const version = parseReleaseVersion(attributes['release'])?.trim() ?? null;
  if (version === null || version.length > MAX_TEXT_LENGTH) return null;
  const environment = toLine(attributes['environment'])?.trim().slice(0, MAX_TEXT_LENGTH) ?? DEFAULT_ENVIRONMENT;
  const parsedEntries =
    type === 'session'
      ? [parseSessionUpdate(payload)]
      : toRecords(payload['aggregates']).slice(0, MAX_ENTRIES).map(parseSessionTotals);
  const entries = keepNewestHours(parsedEntries.filter((entry) => entry !== null));
  return entries.length === 0 ? null : { ...about, version, environment, entries };
}

/** Otherwise a public key could create a row for every hour with each item. */
function keepNewestHours(entries: SessionEntry[]): SessionEntry[] {
  const hourOf = ({ started_at }: SessionEntry): string => started_at?.slice(0, 13) ?? '~';
  const newest = new Set([...new Set(entries.map(hourOf))].toSorted().slice(-MAX_HOURS));
  return entries.filter((entry) => newest.has(hourOf(entry)));
}

function parseSessionUpdate(payload: UntypedRecord): SessionEntry | null {
  const sid = toLine(payload['sid'])?.trim().replaceAll('-', '').toLowerCase() ?? '';
  const status = toText(payload['status']) ?? 'ok';
  const outcome = Object.hasOwn(SESSION_OUTCOMES, status) ? SESSION_OUTCOMES[status] : undefined;
  if (sid === '' || sid.length > MAX_TEXT_LENGTH || outcome === undefined) return null;
  const hadErrors = typeof payload['errors'] === 'number' && payload['errors'] > 0;
  return {
    ...parseSessionAttributes(payload),
    data: { sid, first: payload['init'] === true, outcome: outcome === 'ok' && hadErrors ? 'errored' : outcome },
  };
}

function parseSessionTotals(bucket: UntypedRecord): SessionEntry | null {
  const totals: SessionTotals = {
    ok: toCount(bucket['exited']),
    errored: toCount(bucket['errored']),
    crashed: toCount(bucket['crashed']) + toCount(bucket['unhandled']),
    abnormal: toCount(bucket['abnormal']),
  };
  const any = totals.ok + totals.errored + totals.crashed + totals.abnormal > 0;
  return any ? { ...parseSessionAttributes(bucket), data: totals } : null;
}

const parseSessionAttributes = (attributes: UntypedRecord): Pick<SessionEntry, 'started_at' | 'user'> => ({
  started_at: parseInstant(attributes['started']),
  user: toLine(attributes['did'])?.trim().slice(0, MAX_TEXT_LENGTH) ?? null,
});

const toCount = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? Math.min(value, MAX_SESSION_COUNT) : 0;
