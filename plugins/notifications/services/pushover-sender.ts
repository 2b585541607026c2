import type { OutboundResponse } from '../../../ports/outbound.js';
import type { ChannelDestination } from '../channels/channel.js';
import type { NotificationMessage } from '../notes/message.js';
import type { NotificationSeverity } from '../notes/note.js';
import { disableAutolinks } from './text-escaping.js';
import { joinServerPath, HttpSender, type ChannelRequest } from './http-sender.js';

/** Priority 2 would repeat; reminders are up to the channel. */
const PUSHOVER_PRIORITIES: Readonly<Record<NotificationSeverity, number>> = {
  critical: 1,
  high: 0,
  medium: 0,
  low: -1,
};
const MAX_TITLE_CHARACTERS = 250;
const MAX_URL_CHARACTERS = 512;

export class PushoverSender extends HttpSender {
  // Limit: 1,024 characters.
  readonly limits = { notes: 5, bytes: 1_000 };

  protected buildRequest(message: NotificationMessage, { target, secret, server }: ChannelDestination): ChannelRequest {
    const { lines, subject, severity } = message;
    const [first] = lines;
    const text = lines.map(
      (line) =>
        (lines.length === 1 ? '' : `${disableAutolinks(line.title)}\n`) +
        `${disableAutolinks(line.text)}\n${line.when}`,
    );
    const url = lines.length === 1 && first ? first.url : message.url;
    return {
      url: joinServerPath(server, '/1/messages.json'),
      body: {
        token: secret,
        user: target,
        title: Array.from(disableAutolinks(subject)).slice(0, MAX_TITLE_CHARACTERS).join(''),
        message: text.join('\n\n'),
        priority: PUSHOVER_PRIORITIES[severity],
        timestamp: Math.floor(Date.parse(first?.at ?? '') / 1_000),
        ...(url.length <= MAX_URL_CHARACTERS && { url, url_title: 'Open AOS' }),
      },
    };
  }

  protected override findProblem({ body }: OutboundResponse): string | null {
    return /"status"\s*:\s*1\b/.test(body.toString('utf8')) ? null : 'Pushover did not accept the message';
  }
}
