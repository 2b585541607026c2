/**
 * Fields and timeline entries as one atomic write that compares `rev`, so an outdated change set is
 * never written.
 */
import { toIsoString } from '../../../lib/time.js';
import type { MonitorCertificateExpiring, MonitorEvent, MonitorState } from '../../../ports/domain/watchdog.js';
import type { Ids } from '../../../ports/ids.js';
import type { Json, Update } from '../../../ports/store/index.js';
import type { EventData, Level, MonitorDoc, TimelineOutboxEntry } from './documents.js';
import { NO_SILENCE } from './monitor-view.js';
import { isSilenced, getNextCheck } from './timing.js';
import { recordUptime } from './uptime.js';
import { formatReportReason, formatSilenceReason } from './down-explanation.js';

const STATE_LEVELS: Readonly<Record<MonitorState, Level>> = {
  up: 'info',
  warning: 'warning',
  down: 'error',
  unknown: 'info',
  stopped: 'info',
  maintenance: 'info',
};

const MAX_NOTE_CHARACTERS = 500;
const MAX_MESSAGE_CHARACTERS = 1_000;

export interface FailureReport {
  message: string | null;
  exit_code?: number | null;
  probed?: boolean;
}

const toReportFields = ({ message, exit_code }: FailureReport): Pick<MonitorEvent, 'message' | 'exit_code'> => ({
  message: message === null || message.trim() === '' ? null : message.slice(0, MAX_MESSAGE_CHARACTERS),
  exit_code: exit_code ?? null,
});

export class MonitorChangeSet {
  readonly next: MonitorDoc;
  readonly entries: TimelineOutboxEntry[] = [];
  readonly at: string;

  constructor(
    readonly before: MonitorDoc,
    private readonly ids: Ids,
    private readonly now: number,
  ) {
    this.next = { ...before };
    this.at = toIsoString(now);
  }

  assign(fields: Partial<MonitorDoc>): this {
    Object.assign(this.next, fields);
    return this;
  }

  /** Leaving `down` ends the alarm; an unchanged state does nothing. */
  setState(state: MonitorState, message: string, more: Pick<TimelineOutboxEntry, 'since' | 'note'> = {}): this {
    const { next } = this;
    const from = next.state;
    if (from === state) return this;
    const { at } = this;
    if (state === 'down') this.assign({ incident_id: this.ids.uuid() });
    const since = from === 'down' ? { since: next.down_since_utc ?? at } : {};
    this.#addEntry('transition', 'state.changed', STATE_LEVELS[state], { from, to: state, message, ...since, ...more });
    if (from === 'down') {
      this.recover(state, state === 'stopped' || state === 'maintenance' ? state : null);
      this.assign({ left_down_at: at, down_since_utc: null, down_from: null, incident_id: null });
    }
    const silenced = (next.silenced ?? null) === null ? {} : { silenced: null };
    return this.assign({ uptime: recordUptime(next, this.now), state, last_state_change_utc: at, ...silenced });
  }

  /**
   * The caller then emits or suppresses the alarm.
   * @param note text of the heartbeat
   */
  setDown(since: number, message: string, note: string | null = null): this {
    const from = this.next.state;
    const more = { since: toIsoString(since), ...(note !== null && { note: note.slice(0, MAX_NOTE_CHARACTERS) }) };
    return this.setState('down', message, more).assign({ down_since_utc: toIsoString(since), down_from: from });
  }

  /** An open alarm ends; the current state is held. */
  enterMaintenance(window: { id: string; until: string; reason: string | null }): this {
    const { state, down_since_utc, maintenance_id } = this.next;
    if (typeof maintenance_id !== 'string') this.assign({ held_state: state, held_since: down_since_utc });
    this.assign({
      maintenance_id: window.id,
      maintenance_until: window.until,
      maintenance_reason: window.reason,
      released_at: null,
    });
    return this.setState('maintenance', window.reason === null ? 'Maintenance' : `Maintenance: ${window.reason}`);
  }

  /** Applies when the window ends. */
  setHeldState(state: MonitorState): this {
    const since = state === 'down' ? (this.next.held_since ?? this.at) : null;
    return this.assign({ held_state: state, held_since: since });
  }

  /** Emits `monitor.recovered` for an open alarm. */
  recover(state: MonitorState, resolution: string | null): this {
    return this.#endAlarm('monitor.recovered', state, resolution);
  }

  /** Emits `monitor.alarm_closed`: a deletion is no recovery. */
  closeAlarm(): this {
    return this.#endAlarm('monitor.alarm_closed', this.next.state, 'deleted');
  }

  #endAlarm(event: 'monitor.recovered' | 'monitor.alarm_closed', state: MonitorState, resolution: string | null): this {
    const { alarm, alarm_id, down_since_utc } = this.next;
    if (alarm === 'open' && alarm_id !== null) {
      const data = {
        ...this.#getEventFields(),
        state,
        previous_state: 'down',
        alarm_id,
        deferred: false,
        resolution,
        down_since_utc,
        reason: null,
        message: null,
        exit_code: null,
      } as const;
      this.#addAlarm(event, 'info', data, resolution === null ? 'Recovered' : `Alarm ended: ${resolution}`);
    }
    return this.assign({
      alarm: 'none',
      alarm_id: null,
      suppressed_by: null,
      released_at: null,
    });
  }

  #getEventFields(): Pick<MonitorEvent, 'name' | 'tags' | 'last_heartbeat_at'> {
    const { name, tags = [], last_heartbeat_at } = this.next;
    return { name, tags, last_heartbeat_at };
  }

  /** @param heartbeat that reported the failure; null when heartbeats are missing */
  emitAlarm(deferred: boolean, heartbeat: FailureReport | null = null): this {
    const { down_since_utc, down_from } = this.next;
    const alarm_id = this.ids.uuid();
    this.assign({ alarm: 'open', alarm_id, suppressed_by: null, released_at: null });
    const data = {
      ...this.#getEventFields(),
      state: 'down',
      previous_state: down_from,
      alarm_id,
      deferred,
      resolution: null,
      down_since_utc,
      ...(heartbeat === null
        ? { ...toReportFields(this.next), reason: formatSilenceReason(this.next, this.now) }
        : { ...toReportFields(heartbeat), reason: formatReportReason(heartbeat), last_heartbeat_at: this.at }),
    } as const;
    const now = heartbeat !== null ? 'Reported an error: down' : 'No heartbeat: down';
    const message = deferred ? 'Still down: the alarm was held' : now;
    return this.#addAlarm('monitor.down', 'error', data, message);
  }

  /**
   * Unless the previous state was `down`.
   * @param reason a sentence
   */
  emitWarning(reason: string): this {
    const { before, next } = this;
    if (next.state !== 'warning' || before.state === 'warning' || before.state === 'down') return this;
    if (isSilenced(next, this.now)) return this.assign({ silenced: reason });
    return this.#addWarning(reason);
  }

  #addWarning(reason: string): this {
    const { before, next } = this;
    const { message } = toReportFields(next);
    const previous_state = before.state === 'warning' ? null : before.state;
    const data = { ...this.#getEventFields(), state: 'warning', previous_state, reason, message } as const;
    return this.#addAlarm('monitor.warning', 'warning', data, reason);
  }

  /** A down ancestor suppresses it, a silence defers it. */
  raiseAlarm(by: string | null, heartbeat: FailureReport | null = null): this {
    if (by !== null) return this.suppressAlarm(by);
    return isSilenced(this.next, this.now) ? this.#deferToSilenceEnd() : this.emitAlarm(false, heartbeat);
  }

  #deferToSilenceEnd(): this {
    this.assign({ alarm: 'suppressed', suppressed_by: null, released_at: null });
    return this.#addEntry('suppression', 'alarm.suppressed', 'warning', { message: 'Alarm held: silenced' });
  }

  /** The state and an open alarm stay unchanged. */
  enterSilence(window: { id: string; until: string; reason: string | null }): this {
    return this.assign({ silence_id: window.id, silence_until: window.until, silence_reason: window.reason });
  }

  /**
   * Emits what the silence deferred.
   * @param by the down ancestor
   */
  endSilence(by: string | null): this {
    const { state, alarm, suppressed_by, released_at, silenced = null } = this.next;
    this.assign(NO_SILENCE);
    if (state === 'warning' && silenced !== null && by === null) this.#addWarning(silenced);
    if (state !== 'down' || alarm !== 'suppressed' || suppressed_by !== null || released_at !== null) return this;
    return by === null ? this.emitAlarm(true) : this.suppressAlarm(by);
  }

  emitCertificateExpiring(expiry: Pick<MonitorCertificateExpiring, 'days_left' | 'expires_at'>, reason: string): this {
    const { name, tags } = this.#getEventFields();
    return this.#addAlarm('monitor.certificate_expiring', 'warning', { name, tags, ...expiry }, reason);
  }

  suppressAlarm(by: string): this {
    this.assign({ alarm: 'suppressed', suppressed_by: by, released_at: null });
    return this.#addEntry('suppression', 'alarm.suppressed', 'warning', {
      message: `Alarm suppressed: ${by} is down`,
      suppressed_by: by,
    });
  }

  #addAlarm(type: string, level: Level, data: EventData, message: string): this {
    return this.#addEntry('alarm', type, level, { message, data, ...('state' in data && { to: data.state }) });
  }

  #addEntry(kind: TimelineOutboxEntry['kind'], type: string, level: Level, more: Partial<TimelineOutboxEntry>): this {
    const { incident_id } = this.next;
    this.entries.push({
      id: `evt_${this.ids.uuid()}`,
      at: this.at,
      kind,
      type,
      level,
      message: '',
      ...(typeof incident_id === 'string' && { incident: incident_id }),
      ...more,
    });
    return this;
  }

  /**
   * Changed fields only.
   * @param due next check by the evaluator
   */
  toUpdate(due = getNextCheck(this.next)): Update {
    const { before, next, entries } = this;
    next.next_check_at = due;
    next.rev = before.rev + 1;
    const set: Record<string, Json> = {};
    for (const key of Object.keys(next) as (keyof MonitorDoc)[]) {
      if (key === 'rev' || key === 'outbox') continue;
      const value = next[key];
      if (value !== undefined && value !== before[key]) set[key] = value;
    }
    const update: Update = { set, inc: { rev: 1 } };
    const last = entries.at(-1);
    if (last === undefined) return update;
    set['outbox_at'] = next.outbox_at = `${this.at} ${last.id}`;
    next.outbox = [...before.outbox, ...entries];
    update.push = { outbox: { each: entries as unknown as Json[] } };
    return update;
  }
}
