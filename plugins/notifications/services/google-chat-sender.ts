import type { ChannelDestination } from '../channels/channel.js';
import type { NotificationMessage, MessageLine } from '../notes/message.js';
import { escapeHtml, toHtmlText, disableAutolinks } from './text-escaping.js';
import { getSeverityColor } from './severity-colors.js';
import { HttpSender, type ChannelRequest } from './http-sender.js';

export class GoogleChatSender extends HttpSender {
  // Limits: 32 KB per message, less than 4,096 characters per paragraph.
  readonly limits = { notes: 10, bytes: 3_500 };

  override measure({ title, text, url }: MessageLine): number {
    return (
      Buffer.byteLength(toHtmlText(title)) + Buffer.byteLength(toHtmlText(text)) + Buffer.byteLength(escapeHtml(url))
    );
  }

  protected buildRequest(
    { id, subject, lines, url }: NotificationMessage,
    { target }: ChannelDestination,
  ): ChannelRequest {
    const sections = lines.map((line) => ({
      widgets: [
        {
          textParagraph: {
            text:
              `${lines.length === 1 ? `<b>${toHtmlText(line.title)}</b>` : `<a href="${escapeHtml(line.url)}">${toHtmlText(line.title)}</a>`}<br>${toHtmlText(line.text)}<br>` +
              `<font color="${getSeverityColor(line)}">${line.severity} · ${escapeHtml(line.when)}</font>`,
          },
        },
      ],
    }));
    const open = {
      widgets: [
        {
          buttonList: {
            buttons: [{ text: lines.length === 1 ? 'Open in AOS' : 'Open AOS', onClick: { openLink: { url } } }],
          },
        },
      ],
    };
    const card = { cardId: id, card: { sections: [...sections, open] } };
    return { url: target, body: { fallbackText: disableAutolinks(subject), cardsV2: [card] } };
  }
}
