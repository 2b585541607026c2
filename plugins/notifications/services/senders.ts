import type { Clock } from '../../../kernel/contract/index.js';
import type { EgressPolicy, Outbound } from '../../../ports/outbound.js';
import type { ChannelKind } from '../channels/channel-kinds.js';
import { EmailSender, type SmtpConfig } from './email-sender.js';
import type { MessageSender } from './sender.js';
import { GoogleChatSender } from './google-chat-sender.js';
import { HttpRequestSender } from './http-request-sender.js';
import { MatrixSender } from './matrix-sender.js';
import { NtfySender } from './ntfy-sender.js';
import { OpsgenieSender, PagerDutySender } from './on-call-senders.js';
import { PushoverSender } from './pushover-sender.js';
import { SlackSender } from './slack-sender.js';
import { TeamsSender } from './teams-sender.js';
import { TelegramSender } from './telegram-sender.js';

export interface SenderDeps {
  smtp: SmtpConfig;
  outbound: Outbound;
  policy: EgressPolicy;
  version: string;
  clock: Pick<Clock, 'now'>;
}

export function buildSenders({
  smtp,
  outbound,
  policy,
  version,
  clock,
}: SenderDeps): Partial<Record<ChannelKind, MessageSender>> {
  const http = [outbound, policy, version] as const;
  return {
    ...(smtp.smtp_host !== '' && { email: new EmailSender(smtp) }),
    slack: new SlackSender(...http),
    teams: new TeamsSender(...http),
    google_chat: new GoogleChatSender(...http),
    telegram: new TelegramSender(...http),
    matrix: new MatrixSender(...http),
    ntfy: new NtfySender(...http),
    pushover: new PushoverSender(...http),
    pagerduty: new PagerDutySender(...http),
    opsgenie: new OpsgenieSender(...http),
    http: new HttpRequestSender(...http, clock),
  };
}
