/** ntfy: the topic is the last path segment; the JSON is posted to the server's root. */
import type { Destination } from '../channels/channel.js';
import type { Message } from '../notes/message.js';
import { disableAutolinks } from './escaping.js';
import { toText } from './sender.js';
import { PRIORITIES } from './colours.js';
import { HttpSender, type ServiceCall } from './http-sender.js';

export class NtfySender extends HttpSender {
  // Above 4,096 bytes a message becomes an attachment, or is rejected.
  readonly limits = { notes: 10, bytes: 3_500 };

  protected request(message: Message, { target, secret }: Destination): ServiceCall {
    const { origin, pathname } = new URL(target);
    const [first] = message.lines;
    return {
      url: `${origin}/`,
      headers: secret === null ? {} : { authorization: `Bearer ${secret}` },
      body: {
        topic: decodeURIComponent(/([^/]*)\/*$/.exec(pathname)?.[1] ?? ''),
        title: disableAutolinks(message.subject),
        message: toText(message),
        priority: PRIORITIES[message.severity],
        click: message.lines.length === 1 && first ? first.url : message.url,
      },
    };
  }
}
