import type { ChannelDestination } from '../channels/channel.js';
import { isEndOfFault, type NotificationMessage, type MessageLine } from '../notes/message.js';
import type { NotificationSeverity } from '../notes/note.js';
import { toTeamsText, disableAutolinks } from './text-escaping.js';
import { HttpSender, type ChannelRequest } from './http-sender.js';

/** Only named colors are supported. */
const CARD_COLORS: Readonly<Record<NotificationSeverity, string>> = {
  critical: 'Attention',
  high: 'Attention',
  medium: 'Warning',
  low: 'Default',
};

const getCardColor = ({ phase, severity }: MessageLine): string => {
  if (phase === 'recovered') return 'Good';
  return isEndOfFault({ phase }) ? 'Default' : CARD_COLORS[severity];
};

export class TeamsSender extends HttpSender {
  // Limit: 28 KB per card with markup.
  readonly limits = { notes: 10, bytes: 8_000 };

  override measure({ title, text, url }: MessageLine): number {
    return Buffer.byteLength(toTeamsText(title)) + Buffer.byteLength(toTeamsText(text)) + Buffer.byteLength(url);
  }

  protected buildRequest({ subject, lines, url }: NotificationMessage, { target }: ChannelDestination): ChannelRequest {
    const items = lines.map((line) => ({
      type: 'Container',
      separator: true,
      items: [
        {
          type: 'TextBlock',
          wrap: true,
          weight: 'Bolder',
          color: getCardColor(line),
          text: lines.length === 1 ? toTeamsText(line.title) : `[${toTeamsText(line.title)}](${line.url})`,
        },
        { type: 'TextBlock', wrap: true, spacing: 'None', text: toTeamsText(line.text) },
        { type: 'TextBlock', wrap: true, spacing: 'None', isSubtle: true, size: 'Small', text: line.when },
      ],
    }));
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      fallbackText: disableAutolinks(subject),
      body: items,
      actions: [{ type: 'Action.OpenUrl', title: lines.length === 1 ? 'Open in AOS' : 'Open AOS', url }],
    };
    const attachments = [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }];
    return { url: target, body: { type: 'message', attachments } };
  }
}
