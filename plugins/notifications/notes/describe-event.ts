import type { BugEvent, RateExceeded } from '../../../ports/domain/bugs.js';
import { getEventPage } from '../../../ports/domain/event-page.js';
import type { ReleaseHalted, ReleasePublished, ReleaseRolledBack } from '../../../ports/domain/releases.js';
import type { WebhookDisabled } from '../../../ports/domain/webhooks.js';
import type { DomainEvent } from '../../../ports/events.js';
import { describeMonitorEvent } from './monitor-notes.js';
import { toPlainText } from './plain-text.js';
import type { ChannelDisabled, Notification } from './note.js';

type NoteText = Omit<Notification, 'path' | 'phase' | 'fault' | 'monitor' | 'tags' | 'details'> &
  Partial<Pick<Notification, 'phase' | 'fault' | 'monitor' | 'tags' | 'details'>>;

/**
 * Returns null for an event without notification.
 * @param zone IANA, for times in the text
 * @param project display name
 */
export function toNote(
  event: Pick<DomainEvent, 'event' | 'data'> & Partial<Pick<DomainEvent, 'timestamp'>>,
  zone = 'UTC',
  project: string | null = null,
): Notification | null {
  const described = event.event.startsWith('monitor.') ? describeMonitorEvent(event, zone) : describeEvent(event);
  if (described === null) return null;
  const path = getEventPage(event.event, event.data) ?? '/';
  const note: Notification = {
    path,
    phase: 'begin',
    fault: null,
    monitor: null,
    tags: null,
    details: {},
    ...described,
  };
  if (project === null) return note;
  return { ...note, title: toPlainText(`${note.title} · ${project}`), details: { ...note.details, project } };
}

const toItemFields = (bug: BugEvent): Pick<Notification, 'fault' | 'tags' | 'details' | 'title'> => ({
  title: toPlainText(`${bug.ref}: ${bug.title}`),
  fault: `item:${bug.ref}`,
  tags: bug.tags ?? [],
  details: { ref: bug.ref, type: bug.type },
});

function describeEvent({ event, data }: Pick<DomainEvent, 'event' | 'data'>): NoteText | null {
  switch (event) {
    case 'bug.created': {
      const bug = data as BugEvent;
      const text = bug.regression ? `${bug.ref} regressed.` : `New ${bug.type}, severity ${bug.severity}.`;
      return { topic: bug.regression ? 'bug.regression' : event, severity: bug.severity, text, ...toItemFields(bug) };
    }
    case 'bug.critical':
      return {
        topic: event,
        severity: 'critical',
        text: 'Priority raised to critical.',
        ...toItemFields(data as BugEvent),
      };
    case 'bug.resolved': {
      const bug = data as BugEvent;
      const text = `The issue is ${bug.item_status.replaceAll('_', ' ')}.`;
      return { topic: null, phase: 'recovered', severity: 'low', text, ...toItemFields(bug) };
    }
    case 'feature.created': {
      const bug = data as BugEvent;
      return { topic: event, severity: bug.severity, text: 'New feature request.', ...toItemFields(bug) };
    }
    case 'error.rate_exceeded': {
      const { ref, count, threshold } = data as RateExceeded;
      const text = `Muted error over its limit: ${count} in the last hour (limit ${threshold}).`;
      return { topic: event, severity: 'high', title: toPlainText(ref), text };
    }
    case 'release.published': {
      const { product, version, channel, platform, signed, closed_count } = data as ReleasePublished;
      return {
        topic: event,
        severity: 'low',
        title: `${product} ${version} published`,
        text: `Channel ${channel}, ${platform}, ${signed ? 'signed' : 'unsigned'}. Issues closed: ${closed_count}.`,
      };
    }
    case 'release.halted': {
      const { product, version, channel, platform, reason } = data as ReleaseHalted;
      const title = `Rollout of ${product} ${version} halted`;
      return { topic: event, severity: 'high', title, text: toPlainText(`Channel ${channel}, ${platform}: ${reason}`) };
    }
    case 'release.rolled_back': {
      const { product, channel, platform, from, to, reason } = data as ReleaseRolledBack;
      const text = toPlainText(`Channel ${channel}, ${platform ?? 'all platforms'}: ${reason}`);
      return { topic: event, severity: 'high', title: `${product} was rolled back from ${from} to ${to}`, text };
    }
    case 'webhook.disabled': {
      const { name, reason } = data as WebhookDisabled;
      const title = toPlainText(`Webhook ${name} disabled`);
      return { topic: event, severity: 'high', title, text: toPlainText(reason) };
    }
    case 'channel.disabled': {
      const { name, reason } = data as ChannelDisabled;
      const title = toPlainText(`Alert channel ${name} disabled`);
      return { topic: event, severity: 'high', title, text: toPlainText(reason) };
    }
    default:
      return null;
  }
}
