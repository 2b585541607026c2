/** E-mail by SMTP, as text and as HTML. */
import type { Transporter } from 'nodemailer';
import type { Message } from '../notes/message.js';
import { escapeHtml, htmlText, unlinked } from './escaping.js';
import { SendError, textOf, type Sender } from './sender.js';

export interface SmtpConfig {
  smtp_host: string;
  smtp_port: number;
  smtp_security: 'starttls' | 'tls' | 'none';
  smtp_user: string;
  smtp_password: string;
  smtp_from: string;
}

const TIMEOUT_MS = 15_000;
const COLOURS = { critical: '#b3173c', high: '#b02a1d', medium: '#835000', low: '#1c5cb0' } as const;

/** Mail programs support little CSS and no style sheets: the styles are inline. */
export function htmlOf({ lines, more, url }: Message): string {
  const rows = lines.map(
    (line) =>
      `<tr><td style="padding:12px 16px;border-left:4px solid ${line.end ? '#196a3a' : COLOURS[line.severity]};background:#ffffff">` +
      `<a href="${escapeHtml(line.url)}" style="color:#17211f;font-weight:600;text-decoration:none">${htmlText(line.title)}</a>` +
      `<div style="color:#4a5955;margin-top:4px">${htmlText(line.text)}</div>` +
      `<div style="color:#5d6c68;font-size:12px;margin-top:4px">${line.end ? 'over' : line.severity} · ${escapeHtml(line.at)}</div></td></tr>`,
  );
  const rest = more > 0 ? `<tr><td style="padding:12px 16px">and ${more} more</td></tr>` : '';
  return (
    '<!doctype html><html lang="en"><body style="margin:0;background:#f5f7f6;font-family:system-ui,sans-serif;font-size:15px">' +
    '<table role="presentation" cellspacing="0" cellpadding="0" style="max-width:600px;margin:24px auto;width:100%;border-collapse:separate;border-spacing:0 8px">' +
    `${rows.join('')}${rest}<tr><td style="padding:12px 16px;font-size:13px"><a href="${escapeHtml(url)}" style="color:#0a5f59">Open AOS</a></td></tr></table></body></html>`
  );
}

export class EmailSender implements Sender {
  #transport: Promise<Transporter> | null = null;

  constructor(private readonly config: SmtpConfig) {}

  /** The library is loaded with the first mail. */
  async #connect(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    const { smtp_host: host, smtp_port: port, smtp_security, smtp_user: user, smtp_password: pass } = this.config;
    return createTransport({
      host,
      port,
      secure: smtp_security === 'tls',
      requireTLS: smtp_security === 'starttls',
      ignoreTLS: smtp_security === 'none',
      ...(user !== '' && { auth: { user, pass } }),
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  async send(message: Message, target: string): Promise<void> {
    const from = this.config.smtp_from;
    const domain = from.slice(from.lastIndexOf('@') + 1).replace(/[^\w.-]/g, '') || 'localhost';
    try {
      this.#transport ??= this.#connect();
      const transport = await this.#transport;
      await transport.sendMail({
        from,
        to: target.split(',').map((one) => one.trim()),
        subject: `[AOS] ${unlinked(message.subject)}`,
        messageId: `<${message.id}@${domain}>`,
        headers: { 'auto-submitted': 'auto-generated' },
        text: textOf(message),
        html: htmlOf(message),
      });
    } catch (error) {
      const { responseCode, code } = error as { responseCode?: number; code?: string };
      const permanent = (responseCode !== undefined && responseCode >= 500) || code === 'EAUTH' || code === 'EENVELOPE';
      throw new SendError(`SMTP: ${error instanceof Error ? error.message : String(error)}`, permanent);
    }
  }
}
