import { formatElapsed } from '../../../lib/time.js';
import { getEventPage } from '../../../ports/domain/event-page.js';
import type { AlarmAcknowledgement } from '../../../ports/domain/alarms/receivers.js';
import type { MonitorCertificateExpiring, MonitorEvent, MonitorWarning } from '../../../ports/domain/watchdog.js';
import type { DomainEvent } from '../../../ports/events.js';
import { formatLocalTime } from './local-times.js';
import type { Notification } from './note.js';
import { toPlainText } from './plain-text.js';

const MAX_MESSAGE_CHARACTERS = 500;
const MAX_URGENT_CERTIFICATE_DAYS = 7;

type MonitorNote = Omit<Notification, 'path'>;

/** Earlier versions' pending events may lack fields. */
type StoredEvent<T> = Partial<T> & { source: string };

const getLabel = ({ source, name }: { source: string; name?: string | null | undefined }): string =>
  toPlainText(name === undefined || name === null || name === '' ? source : name);

const toSentence = (text: string | null | undefined): string => {
  const line = toPlainText(text ?? '', MAX_MESSAGE_CHARACTERS);
  return line === '' || /[.!?…]$/.test(line) ? line : `${line}.`;
};

const joinSentences = (...sentences: (string | null | undefined)[]): string =>
  sentences.filter((one) => one !== null && one !== undefined && one !== '').join(' ');

const toMonitorFields = ({ source, tags }: StoredEvent<{ tags: string[] }>): Pick<MonitorNote, 'monitor' | 'tags'> => ({
  monitor: source,
  tags: tags ?? null,
});

export function describeMonitorEvent(
  { event, data, timestamp = null }: Pick<DomainEvent, 'event' | 'data'> & { timestamp?: string | null },
  zone: string,
): MonitorNote | null {
  switch (event) {
    case 'monitor.down':
      return describeDown(data as StoredEvent<MonitorEvent>, zone);
    case 'monitor.recovered':
    case 'monitor.alarm_closed':
      return describeEnd(data as StoredEvent<MonitorEvent>, zone, timestamp);
    case 'monitor.warning': {
      const { source, name, tags, reason, message, state } = data as StoredEvent<MonitorWarning>;
      const text = joinSentences(toSentence(reason ?? 'A warning was reported'), toSentence(message));
      const details = {
        source,
        name: name ?? source,
        state: state ?? 'warning',
        reason: reason ?? null,
        message: message ?? null,
      };
      return {
        topic: event,
        phase: 'begin',
        severity: 'medium',
        title: `${getLabel({ source, name })}: warning`,
        text,
        fault: null,
        details,
        ...toMonitorFields({ source, tags }),
      };
    }
    case 'monitor.certificate_expiring': {
      const { source, name, tags, days_left, expires_at } = data as StoredEvent<MonitorCertificateExpiring>;
      const when =
        expires_at === undefined || expires_at === null ? null : `Expires ${formatLocalTime(expires_at, zone)}.`;
      const left = days_left === undefined ? null : days_left < 0 ? 'Expired.' : `Days left: ${days_left}.`;
      return {
        topic: event,
        phase: 'begin',
        severity: days_left !== undefined && days_left <= MAX_URGENT_CERTIFICATE_DAYS ? 'high' : 'medium',
        title: `${getLabel({ source, name })}: certificate ${days_left !== undefined && days_left < 0 ? 'expired' : 'expires soon'}`,
        text: joinSentences(left, when) || 'The certificate expires soon.',
        fault: null,
        details: { source, name: name ?? source, days_left: days_left ?? null, expires_at: expires_at ?? null },
        ...toMonitorFields({ source, tags }),
      };
    }
    default:
      return null;
  }
}

function describeDown(data: StoredEvent<MonitorEvent>, zone: string): MonitorNote {
  const { source, name, alarm_id, down_since_utc, deferred, reason, message, exit_code, last_heartbeat_at } = data;
  const since =
    down_since_utc === null || down_since_utc === undefined
      ? null
      : `Down since ${formatLocalTime(down_since_utc, zone)}.`;
  const why = toSentence(reason) || (since === null ? 'Heartbeats stopped.' : null);
  // A silent monitor's last message is not the cause.
  const lastMessage = toSentence(message);
  const quoted =
    lastMessage === '' || last_heartbeat_at === down_since_utc ? lastMessage : `Last message: ${lastMessage}`;
  return {
    topic: 'monitor.down',
    phase: 'begin',
    severity: 'critical',
    title: `${getLabel({ source, name })} is down`,
    text: joinSentences(why, quoted, since, deferred === true ? 'The alert waited for a parent.' : null),
    fault: `alarm:${alarm_id}`,
    details: {
      source,
      name: name ?? source,
      state: 'down',
      reason: reason ?? null,
      message: message ?? null,
      exit_code: exit_code ?? null,
      last_heartbeat_at: last_heartbeat_at ?? null,
      down_since_utc: down_since_utc ?? null,
    },
    ...toMonitorFields(data),
  };
}

const CLOSE_TEXTS: Readonly<Record<string, string>> = {
  deleted: 'The monitor was deleted while it was down.',
  maintenance: 'The monitor is in maintenance.',
  stopped: 'The monitor was stopped.',
};

/** @param at of the end; null when unknown */
function describeEnd(data: StoredEvent<MonitorEvent>, zone: string, at: string | null): MonitorNote {
  const { source, name, alarm_id, state, resolution, down_since_utc } = data;
  const label = getLabel({ source, name });
  const began = Date.parse(down_since_utc ?? '');
  const since = Number.isNaN(began) ? null : `It was down since ${formatLocalTime(down_since_utc ?? '', zone)}.`;
  const lasted = Date.parse(at ?? '') - began;
  const after = lasted >= 0 ? ` after ${formatElapsed(lasted)}` : '';
  const closed = resolution !== null && resolution !== undefined;
  return {
    topic: null,
    phase: closed ? 'closed' : 'recovered',
    severity: 'low',
    title: closed ? `${label}: alert closed (${resolution})` : `${label} recovered`,
    text: joinSentences(
      closed ? CLOSE_TEXTS[resolution] : `Up again${after}${state === 'warning' ? ', with a warning' : ''}.`,
      since,
    ),
    fault: `alarm:${alarm_id}`,
    details: { source, name: name ?? source, state: state ?? null, resolution: resolution ?? null },
    ...toMonitorFields(data),
  };
}

/** Covers its removal too, for receivers of the alarm. */
export function toAcknowledgementNote(
  { source, alarm_id, by }: AlarmAcknowledgement,
  name: string = source,
): Notification {
  const title = by === null ? `${name}: unacknowledged` : `${name}: acknowledged by ${by}`;
  const text = by === null ? 'Still down.' : `Still down. ${by} is working on it.`;
  return {
    topic: null,
    phase: by === null ? 'unassigned' : 'acknowledged',
    severity: 'low',
    title: toPlainText(title),
    text: toPlainText(text),
    path: getEventPage('monitor.down', { source }) ?? '/',
    fault: `alarm:${alarm_id}`,
    monitor: source,
    tags: null,
    details: { source, state: 'down', by },
  };
}
