/**
 * Sessions of Sentry SDKs (contract 21, release health): `session`, one session in several updates,
 * and `sessions`, aggregated counts.
 */
import type { SessionEntry, SessionOutcome, SessionReport, SessionTotals } from '../../ports/domain/release-health.js';
import { versionOf } from './event.js';
import { instant } from './time.js';
import { line, record, records, text, type Loose } from './values.js';

export const isSession = (type: string): boolean => type === 'session' || type === 'sessions';

/**
 * `unhandled` means an uncaught error that the platform survived, as in browsers. It counts as a
 * crash, because SDKs used to report it as `crashed`, so figures stay comparable after an upgrade.
 */
const OUTCOMES: Readonly<Record<string, SessionOutcome>> = {
  ok: 'ok',
  exited: 'ok',
  errored: 'errored',
  degraded: 'errored',
  unhandled: 'crashed',
  crashed: 'crashed',
  abnormal: 'abnormal',
};
const MOST_CHARACTERS = 200;
/** SDKs aggregate and send sessions every minute. */
const MOST_ENTRIES = 500;
const MOST_HOURS = 24;
const MOST_SESSIONS = 1_000_000;
const ENVIRONMENT = 'production';

export type AboutSessions = Pick<SessionReport, 'project' | 'sent_at'>;

const OPEN = 0x7b;
/** Aggregated entries are charged in tens, because one costs a tenth of an event. */
const ENTRIES_OF_UNIT = 10;

/** Returns the minimum cost of an item before parsing: each entry has a brace. */
export function weightOfSessions(payload: Buffer): number {
  let braces = 0;
  for (let at = payload.indexOf(OPEN); at >= 0; at = payload.indexOf(OPEN, at + 1)) braces++;
  return 1 + Math.floor(braces / ENTRIES_OF_UNIT);
}

export function sessionsOf(type: string, payload: Loose, about: AboutSessions): SessionReport | null {
  const attributes = record(payload['attrs']) ?? {};
  const version = versionOf(attributes['release'])?.trim() ?? null;
  if (version === null || version.length > MOST_CHARACTERS) return null;
  const environment = line(attributes['environment'])?.trim().slice(0, MOST_CHARACTERS) ?? ENVIRONMENT;
  const told =
    type === 'session' ? [updateOf(payload)] : records(payload['aggregates']).slice(0, MOST_ENTRIES).map(totalsOf);
  const entries = newestHours(told.filter((entry) => entry !== null));
  return entries.length === 0 ? null : { ...about, version, environment, entries };
}

/**
 * Keeps the newest hours. Otherwise anyone with a public key could create a row for every hour with
 * each item.
 */
function newestHours(entries: SessionEntry[]): SessionEntry[] {
  const hourOf = ({ started_at }: SessionEntry): string => started_at?.slice(0, 13) ?? '~';
  const newest = new Set([...new Set(entries.map(hourOf))].toSorted().slice(-MOST_HOURS));
  return entries.filter((entry) => newest.has(hourOf(entry)));
}

function updateOf(payload: Loose): SessionEntry | null {
  const sid = line(payload['sid'])?.trim().replaceAll('-', '').toLowerCase() ?? '';
  const status = text(payload['status']) ?? 'ok';
  const outcome = Object.hasOwn(OUTCOMES, status) ? OUTCOMES[status] : undefined;
  if (sid === '' || sid.length > MOST_CHARACTERS || outcome === undefined) return null;
  const hadErrors = typeof payload['errors'] === 'number' && payload['errors'] > 0;
  return {
    ...aboutOf(payload),
    told: { sid, first: payload['init'] === true, outcome: outcome === 'ok' && hadErrors ? 'errored' : outcome },
  };
}

function totalsOf(bucket: Loose): SessionEntry | null {
  const told: SessionTotals = {
    ok: numberOf(bucket['exited']),
    errored: numberOf(bucket['errored']),
    crashed: numberOf(bucket['crashed']) + numberOf(bucket['unhandled']),
    abnormal: numberOf(bucket['abnormal']),
  };
  const any = told.ok + told.errored + told.crashed + told.abnormal > 0;
  return any ? { ...aboutOf(bucket), told } : null;
}

const aboutOf = (said: Loose): Pick<SessionEntry, 'started_at' | 'user'> => ({
  started_at: instant(said['started']),
  user: line(said['did'])?.trim().slice(0, MOST_CHARACTERS) ?? null,
});

const numberOf = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? Math.min(value, MOST_SESSIONS) : 0;
