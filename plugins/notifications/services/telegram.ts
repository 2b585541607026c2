/** Telegram Bot API: `sendMessage` with HTML. */
import type { OutboundResponse } from '../../../ports/outbound.js';
import type { Destination } from '../channels/channel.js';
import type { Message, MessageLine } from '../notes/message.js';
import { escapeHtml, toHtmlText } from './escaping.js';
import { joinServerPath, HttpSender, type ServiceCall } from './http-sender.js';

interface TelegramAnswer {
  ok?: boolean;
  description?: string;
  parameters?: { retry_after?: number };
}

const MARKS = {
  begin: '🔴',
  reminder: '🔴',
  acknowledged: '👤',
  unassigned: '🔴',
  recovered: '🟢',
  closed: '⚪',
} as const;

function readAnswer({ body }: OutboundResponse): TelegramAnswer {
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

  protected request({ lines, severity }: Message, { target, secret, server }: Destination): ServiceCall {
    const texts = lines.map(
      (line) =>
        `${MARKS[line.phase]} <b><a href="${escapeHtml(line.url)}">${toHtmlText(line.title)}</a></b>\n` +
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
    const { ok, description } = readAnswer(answer);
    return ok === true ? null : (description ?? 'The answer is not that of a Bot API server');
  }

  protected override retryAfter(answer: OutboundResponse): number | undefined {
    const seconds = readAnswer(answer).parameters?.retry_after;
    return typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : super.retryAfter(answer);
  }
}
