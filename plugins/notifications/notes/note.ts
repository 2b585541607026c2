/** A note: what one event says to a person, in words. Pure. */
import type { BugEvent, RateExceeded } from '../../../ports/domain/bugs.js';
import { eventPage } from '../../../ports/domain/event-page.js';
import type { ReleasePublished } from '../../../ports/domain/releases.js';
import type { AlarmWord } from '../../../ports/domain/alarms/receivers.js';
import type { MonitorEvent } from '../../../ports/domain/watchdog.js';
import type { WebhookDisabled } from '../../../ports/domain/webhooks.js';
import type { DomainEvent } from '../../../ports/events.js';

export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const;
export type NoteSeverity = (typeof SEVERITIES)[number];

/** What a rule can ask for, with what the form says of it. */
export const TOPICS = {
  'monitor.down': 'A monitor is down, and its recovery',
  'bug.created': 'A new bug or error',
  'bug.regression': 'A regression: a fixed problem is back',
  'bug.critical': 'An item has become critical',
  'feature.created': 'A feature request',
  'error.rate_exceeded': 'A muted error happens more often than its rule allows',
  'release.published': 'A release was published',
  'release.halted': 'A rollout has stopped by itself',
  'webhook.disabled': 'A webhook has disabled itself',
} as const;
export type Topic = keyof typeof TOPICS;
export const TOPIC_NAMES = Object.keys(TOPICS) as Topic[];

export interface Note {
  /** Null: an end, for those alone who were sent the beginning. */
  topic: Topic | null;
  severity: NoteSeverity;
  title: string;
  text: string;
  /** Path of the page about it. */
  path: string;
  /** What began, or has ended with it: both notes of a fault carry the same. */
  fault: string | null;
}

/** The events behind the topics, and those that end what an earlier one began. */
export const EVENTS: readonly string[] = [
  'monitor.down',
  'monitor.recovered',
  'bug.created',
  'bug.critical',
  'bug.resolved',
  'feature.created',
  'error.rate_exceeded',
  'release.published',
  'release.halted',
  'webhook.disabled',
];

/** Data of `release.halted` (contract 70, payload). */
interface ReleaseHalted {
  product: string;
  version: string;
  channel: string;
  platform: string;
  reason: string;
}

const LONGEST = 300;

/** One line of at most 300 characters, without characters that steer a terminal or turn the direction of text. */
export function plain(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();
  const characters = Array.from(line);
  return characters.length <= LONGEST ? line : `${characters.slice(0, LONGEST - 1).join('')}…`;
}

const item = ({ ref }: Pick<BugEvent, 'ref'>): Pick<Note, 'fault'> => ({ fault: `item:${ref}` });

/** Null for an event that is none of ours, or has nothing to say. */
export function noteOf(event: Pick<DomainEvent, 'event' | 'data'>): Note | null {
  const said = wordsOf(event);
  return said && { ...said, path: eventPage(event.event, event.data) ?? '/' };
}

/** That somebody is on an alarm, or is no longer: for those alone who were sent the alarm, which it does not end. */
export function noteOfWord({ source, alarm_id, by }: AlarmWord): Note {
  const title = by === null ? `${plain(source)}: nobody is on it any more` : `${plain(source)}: acknowledged by ${by}`;
  const text = by === null ? 'It was handed back, and is still down.' : `${by} is on it. It is still down.`;
  const path = eventPage('monitor.down', { source }) ?? '/';
  return { topic: null, severity: 'low', title: plain(title), text: plain(text), path, fault: `alarm:${alarm_id}` };
}

function wordsOf({ event, data }: Pick<DomainEvent, 'event' | 'data'>): Omit<Note, 'path'> | null {
  switch (event) {
    case 'monitor.down': {
      const { source, alarm_id, down_since_utc, deferred } = data as MonitorEvent;
      return {
        topic: 'monitor.down',
        severity: 'critical',
        title: `${plain(source)} is down`,
        text: `${down_since_utc === null ? 'Its heartbeats have stopped.' : `Down since ${down_since_utc}.`}${deferred ? ' The alarm waited for a parent.' : ''}`,
        fault: `alarm:${alarm_id}`,
      };
    }
    case 'monitor.recovered': {
      const { source, alarm_id, state, resolution } = data as MonitorEvent;
      return {
        topic: null,
        severity: 'low',
        title: `${plain(source)} has recovered`,
        text: resolution === null ? `It is ${state} again.` : `The alarm has ended: ${resolution}.`,
        fault: `alarm:${alarm_id}`,
      };
    }
    case 'bug.created': {
      const bug = data as BugEvent;
      const topic: Topic = bug.regression ? 'bug.regression' : 'bug.created';
      const text = bug.regression ? `${bug.ref} is back: a regression.` : `New ${bug.type}, ${bug.severity}.`;
      return { topic, severity: bug.severity, title: plain(`${bug.ref}: ${bug.title}`), text, ...item(bug) };
    }
    case 'bug.critical': {
      const bug = data as BugEvent;
      const text = 'The item is critical now.';
      return {
        topic: 'bug.critical',
        severity: 'critical',
        title: plain(`${bug.ref}: ${bug.title}`),
        text,
        ...item(bug),
      };
    }
    case 'bug.resolved': {
      const bug = data as BugEvent;
      const text = `The item is ${bug.item_status.replaceAll('_', ' ')}.`;
      return { topic: null, severity: 'low', title: plain(`${bug.ref}: ${bug.title}`), text, ...item(bug) };
    }
    case 'feature.created': {
      const bug = data as BugEvent;
      const title = plain(`${bug.ref}: ${bug.title}`);
      return { topic: 'feature.created', severity: bug.severity, title, text: 'A feature request.', ...item(bug) };
    }
    case 'error.rate_exceeded': {
      const { ref, count, threshold } = data as RateExceeded;
      const text = `A muted error: ${count} in the last hour, and its rule allows ${threshold}.`;
      return {
        topic: 'error.rate_exceeded',
        severity: 'high',
        title: plain(ref),
        text,
        fault: null,
      };
    }
    case 'release.published': {
      const { product, version, channel, platform, signed, closed_count } = data as ReleasePublished;
      return {
        topic: 'release.published',
        severity: 'low',
        title: `${product} ${version} is published`,
        text: `Channel ${channel}, ${platform}, ${signed ? 'signed' : 'unsigned'}. Items closed: ${closed_count}.`,
        fault: null,
      };
    }
    case 'release.halted': {
      const { product, version, channel, platform, reason } = data as ReleaseHalted;
      return {
        topic: 'release.halted',
        severity: 'high',
        title: `The rollout of ${product} ${version} has stopped`,
        text: plain(`Channel ${channel}, ${platform}: ${reason}`),
        fault: null,
      };
    }
    case 'webhook.disabled': {
      const { name, reason } = data as WebhookDisabled;
      return {
        topic: 'webhook.disabled',
        severity: 'high',
        title: plain(`The webhook ${name} has disabled itself`),
        text: plain(reason),
        fault: null,
      };
    }
    default:
      return null;
  }
}
