/** The topic is the last path segment; the JSON is posted to the root. */
import type { ChannelDestination } from '../channels/channel.js';
import type { NotificationMessage } from '../notes/message.js';
import { disableAutolinks } from './text-escaping.js';
import { toPlainMessage } from './sender.js';
import { NTFY_PRIORITIES } from './severity-colors.js';
import { HttpSender, type ChannelRequest } from './http-sender.js';

export class NtfySender extends HttpSender {
  // Above 4,096 bytes an attachment, or rejected.
  readonly limits = { notes: 10, bytes: 3_500 };

  protected buildRequest(message: NotificationMessage, { target, secret }: ChannelDestination): ChannelRequest {
    const { origin, pathname } = new URL(target);
    const [first] = message.lines;
    return {
      url: `${origin}/`,
      headers: secret === null ? {} : { authorization: `Bearer ${secret}` },
      body: {
        topic: decodeURIComponent(/([^/]*)\/*$/.exec(pathname)?.[1] ?? ''),
        title: disableAutolinks(message.subject),
        message: toPlainMessage(message),
        priority: NTFY_PRIORITIES[message.severity],
        click: message.lines.length === 1 && first ? first.url : message.url,
      },
    };
  }
}
