import type { OutboundResponse } from '../../../ports/outbound.js';
import type { ChannelDestination } from '../channels/channel.js';
import type { NotificationMessage, MessageLine } from '../notes/message.js';
import { escapeHtml, toHtmlText } from './text-escaping.js';
import { joinServerPath, HttpSender, type ChannelRequest } from './http-sender.js';

interface TelegramResponse {
  ok?: boolean;
  description?: string;
  parameters?: { retry_after?: number };
}

const PHASE_EMOJIS = {
  begin: '🔴',
  reminder: '🔴',
  acknowledged: '👤',
  unassigned: '🔴',
  recovered: '🟢',
  closed: '⚪',
} as const;

function readResponse({ body }: OutboundResponse): TelegramResponse {
  try {
    const answer: unknown = JSON.parse(body.toString('utf8'));
    return typeof answer === 'object' && answer !== null ? answer : {};
  } catch {
    return {};
  }
}

export class TelegramSender extends HttpSender {
  // Limit: 4,096 characters.
  readonly limits = { notes: 10, bytes: 3_500 };

  override measure({ title, text, url }: MessageLine): number {
    return (
      Buffer.byteLength(toHtmlText(title)) + Buffer.byteLength(toHtmlText(text)) + Buffer.byteLength(escapeHtml(url))
    );
  }

  protected buildRequest(
    { lines, severity }: NotificationMessage,
    { target, secret, server }: ChannelDestination,
  ): ChannelRequest {
    const texts = lines.map(
      (line) =>
        `${PHASE_EMOJIS[line.phase]} <b><a href="${escapeHtml(line.url)}">${toHtmlText(line.title)}</a></b>\n` +
        `${toHtmlText(line.text)}\n<i>${line.severity} · ${escapeHtml(line.when)}</i>`,
    );
    return {
      url: joinServerPath(server, `/bot${encodeURIComponent(secret ?? '').replaceAll('%3A', ':')}/sendMessage`),
      body: {
        chat_id: target,
        text: texts.join('\n\n'),
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
        disable_notification: severity === 'low',
      },
    };
  }

  protected override findProblem(answer: OutboundResponse): string | null {
    const { ok, description } = readResponse(answer);
    return ok === true ? null : (description ?? 'The response is not from a Bot API server');
  }

  protected override getRetryAfterMs(answer: OutboundResponse): number | undefined {
    const seconds = readResponse(answer).parameters?.retry_after;
    return typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : super.getRetryAfterMs(answer);
  }
}
