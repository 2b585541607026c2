import { added, inject, injectable, token } from '../../../kernel/contract/index.js';
import { MAIL_QUEUES, type MailQueue, type OutgoingMail } from '../../../ports/domain/mail/mail-queue.js';
import { toXmlText } from '../../../lib/text/xml.js';
import { INVITED_ROLES, type Invitation } from './invitation.js';

export const SERVICE_URL = token<string>('access.service_url');

@injectable()
export class InvitationMailer {
  constructor(
    @inject(added(MAIL_QUEUES)) private readonly queues: () => readonly MailQueue[],
    @inject(SERVICE_URL) private readonly url: string,
  ) {}

  get isConfigured(): boolean {
    return this.queues().some(({ isConfigured }) => isConfigured);
  }

  /**
   * @param secret token of the link
   * @returns the link, and whether a mail is on its way
   */
  async send(invitation: Invitation, secret: string): Promise<{ link: string; mailed: boolean }> {
    const link = `${this.url}/invitations/${secret}`;
    const queue = this.queues().find(({ isConfigured }) => isConfigured);
    await queue?.enqueue([buildInvitationMail(invitation, link, new URL(this.url).host)]);
    return { link, mailed: queue !== undefined };
  }

  /** Removes mails that still wait. */
  async drop({ id: subject_id }: Pick<Invitation, 'id'>): Promise<void> {
    for (const queue of this.queues()) await queue.drop({ subject_id });
  }
}

/**
 * The link is the only copy of the token.
 * @param host of this service
 */
function buildInvitationMail(invitation: Invitation, link: string, host: string): OutgoingMail {
  const { id, token_hash, email, full_name, role, invited_by, expires_at } = invitation;
  const text = [
    full_name === null ? 'Hello,' : `Hello ${full_name},`,
    '',
    `${invited_by} invited you to AOS at ${host} as ${INVITED_ROLES[role]}.`,
    '',
    `Accept the invitation: ${link}`,
    '',
    `The link works once, until ${expires_at.slice(0, 16).replace('T', ' ')} UTC. If you did not expect it, ignore this mail.`,
  ].join('\n');
  return {
    // Sent again, it has another token.
    id: `invitation ${id} ${token_hash.slice(0, 16)}`,
    subject_id: id,
    recipient_id: id,
    to: email,
    subject: `${invited_by} invited you to AOS at ${host}`,
    text,
    html: `<pre style="font: inherit">${toXmlText(text)}</pre>`,
    headers: {},
    urgent: true,
  };
}
