/** Workflow webhooks of Teams: an adaptive card. */
import type { Destination } from '../channels/channel.js';
import { isEnd, type Message, type MessageLine } from '../notes/message.js';
import type { NoteSeverity } from '../notes/note.js';
import { toCardText, disableAutolinks } from './escaping.js';
import { HttpSender, type ServiceCall } from './http-sender.js';

/** Adaptive cards only support named colors. */
const CARD_COLOURS: Readonly<Record<NoteSeverity, string>> = {
  critical: 'Attention',
  high: 'Attention',
  medium: 'Warning',
  low: 'Default',
};

const getCardColour = ({ phase, severity }: MessageLine): string => {
  if (phase === 'recovered') return 'Good';
  return isEnd({ phase }) ? 'Default' : CARD_COLOURS[severity];
};

export class TeamsSender extends HttpSender {
  // Limit: 28 KB per card with markup.
  readonly limits = { notes: 10, bytes: 8_000 };

  override measure({ title, text, url }: MessageLine): number {
    return Buffer.byteLength(toCardText(title)) + Buffer.byteLength(toCardText(text)) + Buffer.byteLength(url);
  }

  protected request({ subject, lines, url }: Message, { target }: Destination): ServiceCall {
    const items = lines.map((line) => ({
      type: 'Container',
      separator: true,
      items: [
        {
          type: 'TextBlock',
          wrap: true,
          weight: 'Bolder',
          color: getCardColour(line),
          text: `[${toCardText(line.title)}](${line.url})`,
        },
        { type: 'TextBlock', wrap: true, spacing: 'None', text: toCardText(line.text) },
        { type: 'TextBlock', wrap: true, spacing: 'None', isSubtle: true, size: 'Small', text: line.when },
      ],
    }));
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      fallbackText: disableAutolinks(subject),
      body: items,
      actions: [{ type: 'Action.OpenUrl', title: 'Open AOS', url }],
    };
    const attachments = [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }];
    return { url: target, body: { type: 'message', attachments } };
  }
}
