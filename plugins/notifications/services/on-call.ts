/** PagerDuty and Opsgenie alerts, which recoveries resolve and acknowledgements acknowledge. */
import type { Scalar } from '../../../ports/store.js';
import type { Destination } from '../channels/channel.js';
import { isEnd, type Message, type MessageLine } from '../notes/message.js';
import type { NoteSeverity } from '../notes/note.js';
import { joinServerPath, HttpSender, type ServiceCall } from './http-sender.js';

const SEVERITIES: Readonly<Record<NoteSeverity, string>> = {
  critical: 'critical',
  high: 'error',
  medium: 'warning',
  low: 'info',
};
const PRIORITIES: Readonly<Record<NoteSeverity, string>> = { critical: 'P1', high: 'P2', medium: 'P3', low: 'P5' };
const MAX_SUMMARY_CHARACTERS = 1_024;
const MAX_ALERT_MESSAGE_CHARACTERS = 130;
const MAX_KEY_CHARACTERS = 255;
const MAX_SOURCE_CHARACTERS = 100;

const truncate = (text: string, most: number): string => Array.from(text).slice(0, most).join('');

/**
 * Unique per fault and installation, because items of two installations may have the same number.
 */
const getDedupKey = ({ key }: MessageLine, url: string): string =>
  truncate(`${new URL(url).host} ${key}`, MAX_KEY_CHARACTERS);

const getSource = ({ details }: MessageLine, url: string): string =>
  typeof details['source'] === 'string' ? details['source'] : new URL(url).host;

const getDetails = (line: MessageLine): Record<string, unknown> => ({
  text: line.text,
  event: line.event,
  ...line.details,
});

const getTexts = (values: Readonly<Record<string, Scalar>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value ?? '')]));

export class PagerDutySender extends HttpSender {
  readonly limits = { notes: 1, bytes: 100_000 };

  protected request({ lines: [line], url }: Message, { secret, server }: Destination): ServiceCall | null {
    if (line === undefined || line.phase === 'unassigned') return null;
    const action = isEnd(line) ? 'resolve' : line.phase === 'acknowledged' ? 'acknowledge' : 'trigger';
    const head = { routing_key: secret, event_action: action, dedup_key: getDedupKey(line, url) };
    const payload = {
      summary: truncate(`${line.title}: ${line.text}`, MAX_SUMMARY_CHARACTERS),
      source: getSource(line, url),
      severity: SEVERITIES[line.severity],
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

  protected request({ lines: [line], url }: Message, { secret, server }: Destination): ServiceCall | null {
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
          priority: PRIORITIES[line.severity],
          entity: getSource(line, url),
          source,
          details: getTexts({ ...line.details, event: line.event, url: line.url }),
        },
      };
    const action = isEnd(line) ? 'close' : line.phase === 'acknowledged' ? 'acknowledge' : 'unacknowledge';
    return {
      url: joinServerPath(server, `/v2/alerts/${encodeURIComponent(alias)}/${action}?identifierType=alias`),
      headers,
      body: { source, note: `${line.title}: ${line.text}` },
    };
  }
}
