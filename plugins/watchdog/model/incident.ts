/**
 * One period in which a monitor was down (contract 30, alarms). Entries of state changes carry its
 * id, so a repeated entry writes the same data.
 */
import type { WriteOp, Doc } from '../../../ports/store/index.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import type { MonitorDoc, TimelineOutboxEntry } from './documents.js';

export type IncidentComment = Record<'at' | 'by' | 'text', string>;

export interface IncidentDoc extends Doc {
  source: string;
  project: string | null;
  began_at: string;
  ended_at: string | null;
  /** Null while down, and when the monitor was deleted. */
  ended_in: MonitorState | null;
  message: string;
  note: string | null;
  alarm_id: string | null;
  alarm_at: string | null;
  alarm_event: string | null;
  recovered_event: string | null;
  recovered_at: string | null;
  deferred: boolean;
  /** The ancestor that suppressed its alarm first. */
  suppressed_by: string | null;
  cause: string | null;
  comments: IncidentComment[];
  acknowledged_by?: string | null;
  acknowledged_at?: string | null;
}

const NEW_INCIDENT: Omit<IncidentDoc, 'id' | 'source' | 'project' | 'began_at' | 'message' | 'note'> = {
  ended_at: null,
  ended_in: null,
  alarm_id: null,
  alarm_at: null,
  alarm_event: null,
  recovered_event: null,
  recovered_at: null,
  deferred: false,
  suppressed_by: null,
  cause: null,
  comments: [],
  acknowledged_by: null,
  acknowledged_at: null,
};

const NON_ALARM_EVENTS: ReadonlySet<string> = new Set(['monitor.warning', 'monitor.certificate_expiring']);

/** Bulk runs apply these in any order. */
type IncidentWrite = Extract<WriteOp<IncidentDoc>, { change: unknown }>;

export function buildIncidentWrites(
  { source, project }: Pick<MonitorDoc, 'source' | 'project'>,
  entries: readonly TimelineOutboxEntry[],
): IncidentWrite[] {
  return entries.flatMap((entry): IncidentWrite[] => {
    const { incident: id } = entry;
    if (id === undefined || NON_ALARM_EVENTS.has(entry.type)) return [];
    if (entry.kind === 'transition' && entry.to === 'down') {
      const { since = entry.at, message, note = null } = entry;
      const setOnInsert = { ...NEW_INCIDENT, source, project, began_at: since, message, note };
      return [{ change: { id }, update: { setOnInsert }, upsert: true }];
    }
    return [{ change: { id }, update: { set: toIncidentChanges(entry) } }];
  });
}

export function splitIntoBulks(writes: readonly IncidentWrite[]): IncidentWrite[][] {
  const turns: IncidentWrite[][] = [];
  const made = new Map<unknown, number>();
  for (const write of writes) {
    const turn = made.get(write.change['id']) ?? 0;
    made.set(write.change['id'], turn + 1);
    (turns[turn] ??= []).push(write);
  }
  return turns;
}

type IncidentChanges = Record<string, string | boolean | null>;

function toIncidentChanges({
  kind,
  type,
  id,
  at,
  to,
  data,
  suppressed_by,
  since = at,
}: TimelineOutboxEntry): IncidentChanges {
  // The clock may have moved backwards.
  if (kind === 'transition') return { ended_at: at > since ? at : since, ended_in: to ?? null };
  if (kind === 'suppression') return { suppressed_by: suppressed_by ?? null };
  if (type === 'monitor.recovered' || type === 'monitor.alarm_closed') return { recovered_event: id, recovered_at: at };
  const alarm = data !== undefined && 'alarm_id' in data ? data : null;
  return { alarm_id: alarm?.alarm_id ?? null, alarm_at: at, alarm_event: id, deferred: alarm?.deferred === true };
}

/** @param now in ms */
export function toIncidentView(doc: IncidentDoc, now: number) {
  const {
    alarm_event: _alarm,
    recovered_event: _recovered,
    acknowledged_by = null,
    acknowledged_at = null,
    ...shown
  } = doc;
  const until = doc.ended_at === null ? now : Date.parse(doc.ended_at);
  return {
    ...shown,
    acknowledged_by,
    acknowledged_at,
    duration_seconds: Math.max(0, Math.round((until - Date.parse(doc.began_at)) / 1000)),
  };
}
export type IncidentView = ReturnType<typeof toIncidentView>;
