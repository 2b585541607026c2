/** A retry has the same transaction id and is shown once. */
import type { OutboundResponse } from '../../../ports/outbound.js';
import type { ChannelDestination } from '../channels/channel.js';
import type { NotificationMessage, MessageLine } from '../notes/message.js';
import { escapeHtml, toHtmlText } from './text-escaping.js';
import { toPlainMessage } from './sender.js';
import { getSeverityColor } from './severity-colors.js';
import { joinServerPath, HttpSender, type ChannelRequest } from './http-sender.js';

export class MatrixSender extends HttpSender {
  // Limit: 64 KB per event, which contains the text twice.
  readonly limits = { notes: 20, bytes: 12_000 };

  override measure({ title, text, url }: MessageLine): number {
    return (
      Buffer.byteLength(toHtmlText(title)) + Buffer.byteLength(toHtmlText(text)) + Buffer.byteLength(escapeHtml(url))
    );
  }

  protected buildRequest(message: NotificationMessage, { target, secret, server }: ChannelDestination): ChannelRequest {
    const formatted = message.lines.map(
      (line) =>
        `<font data-mx-color="${getSeverityColor(line)}">●</font> <b><a href="${escapeHtml(line.url)}">${toHtmlText(line.title)}</a></b><br>` +
        `${toHtmlText(line.text)}<br><i>${line.severity} · ${escapeHtml(line.when)}</i>`,
    );
    return {
      method: 'PUT',
      url: joinServerPath(
        server,
        `/_matrix/client/v3/rooms/${encodeURIComponent(target)}/send/m.room.message/aos-${message.id}`,
      ),
      headers: { authorization: `Bearer ${secret ?? ''}` },
      body: {
        msgtype: 'm.text',
        body: toPlainMessage(message),
        format: 'org.matrix.custom.html',
        formatted_body: formatted.join('<br><br>'),
      },
    };
  }

  protected override findProblem({ body }: OutboundResponse): string | null {
    return /"event_id"/.test(body.toString('utf8')) ? null : 'The response is not from a homeserver';
  }

  protected override getRetryAfterMs(answer: OutboundResponse): number | undefined {
    const ms = /"retry_after_ms"\s*:\s*(\d{1,9})/.exec(answer.body.toString('utf8'))?.[1];
    return ms === undefined ? super.getRetryAfterMs(answer) : Number(ms);
  }
}
