/** Recoveries resolve and acknowledgements acknowledge alerts. */
import type { Scalar } from '../../../ports/store/index.js';
import type { ChannelDestination } from '../channels/channel.js';
import { isEndOfFault, type NotificationMessage, type MessageLine } from '../notes/message.js';
import type { NotificationSeverity } from '../notes/note.js';
import { joinServerPath, HttpSender, type ChannelRequest } from './http-sender.js';

const PAGERDUTY_SEVERITIES: Readonly<Record<NotificationSeverity, string>> = {
  critical: 'critical',
  high: 'error',
  medium: 'warning',
  low: 'info',
};
const OPSGENIE_PRIORITIES: Readonly<Record<NotificationSeverity, string>> = {
  critical: 'P1',
  high: 'P2',
  medium: 'P3',
  low: 'P5',
};
const MAX_SUMMARY_CHARACTERS = 1_024;
const MAX_ALERT_MESSAGE_CHARACTERS = 130;
const MAX_KEY_CHARACTERS = 255;
const MAX_SOURCE_CHARACTERS = 100;

const truncate = (text: string, most: number): string => Array.from(text).slice(0, most).join('');

/** Items of two installations may have the same number. */
const getDedupKey = ({ key }: MessageLine, url: string): string =>
  truncate(`${new URL(url).host} ${key}`, MAX_KEY_CHARACTERS);

const getSource = ({ details }: MessageLine, url: string): string =>
  typeof details['source'] === 'string' ? details['source'] : new URL(url).host;

const getDetails = (line: MessageLine): Record<string, unknown> => ({
  text: line.text,
  event: line.event,
  ...line.details,
});

const toTextValues = (values: Readonly<Record<string, Scalar>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value ?? '')]));

export class PagerDutySender extends HttpSender {
  readonly limits = { notes: 1, bytes: 100_000 };

  protected buildRequest(
    { lines: [line], url }: NotificationMessage,
    { secret, server }: ChannelDestination,
  ): ChannelRequest | null {
    if (line === undefined || line.phase === 'unassigned') return null;
    const action = isEndOfFault(line) ? 'resolve' : line.phase === 'acknowledged' ? 'acknowledge' : 'trigger';
    const head = { routing_key: secret, event_action: action, dedup_key: getDedupKey(line, url) };
    const payload = {
      summary: truncate(`${line.title}: ${line.text}`, MAX_SUMMARY_CHARACTERS),
      source: getSource(line, url),
      severity: PAGERDUTY_SEVERITIES[line.severity],
      timestamp: line.at,
      class: line.event,
      custom_details: getDetails(line),
    };
    const body =
      action === 'trigger'
        ? { ...head, client: 'AOS', client_url: line.url, payload, links: [{ href: line.url, text: 'Open AOS' }] }
        : head;
    return { url: joinServerPath(server, '/v2/enqueue'), body };
  }
}

export class OpsgenieSender extends HttpSender {
  readonly limits = { notes: 1, bytes: 100_000 };

  protected buildRequest(
    { lines: [line], url }: NotificationMessage,
    { secret, server }: ChannelDestination,
  ): ChannelRequest | null {
    if (line === undefined) return null;
    const headers = { authorization: `GenieKey ${secret ?? ''}` };
    const alias = getDedupKey(line, url);
    const source = truncate(`AOS ${new URL(url).host}`, MAX_SOURCE_CHARACTERS);
    if (line.phase === 'begin' || line.phase === 'reminder')
      return {
        url: joinServerPath(server, '/v2/alerts'),
        headers,
        body: {
          message: truncate(line.title, MAX_ALERT_MESSAGE_CHARACTERS),
          alias,
          description: `${line.text}\n${line.when}\n${line.url}`,
          priority: OPSGENIE_PRIORITIES[line.severity],
          entity: getSource(line, url),
          source,
          details: toTextValues({ ...line.details, event: line.event, url: line.url }),
        },
      };
    const action = isEndOfFault(line) ? 'close' : line.phase === 'acknowledged' ? 'acknowledge' : 'unacknowledge';
    return {
      url: joinServerPath(server, `/v2/alerts/${encodeURIComponent(alias)}/${action}?identifierType=alias`),
      headers,
      body: { source, note: `${line.title}: ${line.text}` },
    };
  }
}
