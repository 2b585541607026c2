import type { Transporter } from 'nodemailer';
import type Mail from 'nodemailer/lib/mailer';
import { findConnectFault } from '../../../lib/http/outbound-fault.js';
import { capitalize } from '../../../lib/sentence.js';
import type { ChannelDestination } from '../channels/channel.js';
import { isEndOfFault, type NotificationMessage, type MessageLine } from '../notes/message.js';
import { escapeHtml, toHtmlText, disableAutolinks } from './text-escaping.js';
import { SendError, toPlainMessage, type MailSender, type MessageSender } from './sender.js';

export interface SmtpConfig {
  smtp_host: string;
  smtp_port: number;
  smtp_security: 'starttls' | 'tls' | 'none';
  smtp_user: string;
  smtp_password: string;
  smtp_from: string;
}

const SMTP_TIMEOUT_MS = 15_000;
const BAR_COLORS = { critical: '#b3173c', high: '#b02a1d', medium: '#835000', low: '#1c5cb0' } as const;

const getBarColor = (line: MessageLine): string => {
  if (line.phase === 'recovered') return '#196a3a';
  return isEndOfFault(line) ? '#5d6c68' : BAR_COLORS[line.severity];
};

/** Mail clients support few CSS features. */
export function renderMailHtml({ lines, url }: NotificationMessage): string {
  const titleStyle = 'color:#17211f;font-weight:600;text-decoration:none';
  const renderTitle = (line: MessageLine): string =>
    lines.length === 1
      ? `<div style="${titleStyle}">${toHtmlText(line.title)}</div>`
      : `<a href="${escapeHtml(line.url)}" style="${titleStyle}">${toHtmlText(line.title)}</a>`;
  const rows = lines.map(
    (line) =>
      `<tr><td style="padding:12px 16px;border-left:4px solid ${getBarColor(line)};background:#ffffff">` +
      renderTitle(line) +
      `<div style="color:#4a5955;margin-top:4px">${toHtmlText(line.text)}</div>` +
      `<div style="color:#5d6c68;font-size:12px;margin-top:4px">${capitalize(isEndOfFault(line) ? line.phase : line.severity)} · ${escapeHtml(line.when)}</div></td></tr>`,
  );
  return (
    '<!doctype html><html lang="en"><body style="margin:0;background:#f5f7f6;font-family:system-ui,sans-serif;font-size:15px">' +
    '<table role="presentation" cellspacing="0" cellpadding="0" style="max-width:600px;margin:24px auto;width:100%;border-collapse:separate;border-spacing:0 8px">' +
    `${rows.join('')}<tr><td style="padding:12px 16px;font-size:13px"><a href="${escapeHtml(url)}" style="color:#0a5f59">${lines.length === 1 ? 'Open in AOS' : 'Open AOS'}</a></td></tr></table></body></html>`
  );
}

export const parseAddresses = (target: string): string[] => [
  ...new Set(
    target
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
  ),
];

export class EmailSender implements MessageSender, MailSender {
  readonly limits = { notes: 50, bytes: 100_000 };
  #transport: Promise<Transporter> | null = null;

  constructor(private readonly config: SmtpConfig) {}

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
      connectionTimeout: SMTP_TIMEOUT_MS,
      greetingTimeout: SMTP_TIMEOUT_MS,
      socketTimeout: SMTP_TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  listRecipients(target: string): string[] {
    return parseAddresses(target);
  }

  /** A rejected recipient must not affect others. */
  async send(message: NotificationMessage, { target }: ChannelDestination, recipient: string): Promise<void> {
    await this.#deliver(message.id, {
      to: parseAddresses(target),
      envelope: { from: this.config.smtp_from, to: [recipient] },
      subject: `[AOS] ${disableAutolinks(message.subject)}`,
      text: toPlainMessage(message),
      html: renderMailHtml(message),
    });
  }

  async sendMail({ id, to, headers, ...texts }: Parameters<MailSender['sendMail']>[0]): Promise<void> {
    await this.#deliver(id.replace(/[^\w.-]/g, '-'), { to: [to], headers: { ...headers }, ...texts });
  }

  async #deliver(
    id: string,
    { headers = {}, ...mail }: Omit<Mail.Options, 'headers'> & { headers?: Record<string, string> },
  ): Promise<void> {
    const from = this.config.smtp_from;
    const domain = from.slice(from.lastIndexOf('@') + 1).replace(/[^\w.-]/g, '') || 'localhost';
    try {
      this.#transport ??= this.#connect();
      const transport = await this.#transport;
      await transport.sendMail({
        from,
        messageId: `<${id}@${domain}>`,
        headers: { 'auto-submitted': 'auto-generated', ...headers },
        ...mail,
      });
    } catch (error) {
      throw toSendError(error);
    }
  }
}

const RECIPIENT_COMMANDS: ReadonlySet<string> = new Set(['RCPT TO', 'DATA']);

/** Only the code decides: 4xx is temporary (RFC 5321, 4.2.1). */
function toSendError(error: unknown): SendError {
  const { responseCode, code, command } = error as { responseCode?: number; code?: string; command?: string };
  const isRejected = responseCode !== undefined && responseCode >= 500;
  // nodemailer itself rejected the address or message.
  const isInvalid = responseCode === undefined && (code === 'EENVELOPE' || code === 'EMESSAGE');
  const isAboutServer = !isInvalid && !RECIPIENT_COMMANDS.has(command ?? '');
  const whole = error instanceof Error ? error.message : String(error);
  // nodemailer has the system's code in its message only.
  const text = findConnectFault(/\bE[A-Z_]{3,}\b/.exec(whole)?.[0]) ?? whole;
  return new SendError(`SMTP: ${text}`, isRejected || isInvalid, { server: isAboutServer });
}
