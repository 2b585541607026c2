import type { Clock } from '../../../kernel/contract/index.js';
import type { Channel } from '../channels/channel.js';
import type { ChannelKind } from '../channels/channel-kinds.js';
import type { RecipientResult } from '../notes/stored-notification.js';
import { describeFailures } from './send-attempt.js';
import type { NotificationDispatcher } from './notification-dispatcher.js';

/** They would keep the test as an open alert. */
const ALERT_KINDS: ReadonlySet<ChannelKind> = new Set(['pagerduty', 'opsgenie']);

export interface ChannelTestResult {
  state: 'sent' | 'failed';
  duration_ms: number;
  error: string | null;
  recipients: RecipientResult[];
}

export class TestMessageSender {
  constructor(
    private readonly dispatcher: Pick<NotificationDispatcher, 'sendTest'>,
    private readonly clock: Clock,
    private readonly recordTest: (channelId: string) => Promise<void>,
  ) {}

  /** @param channel may be one that is not stored yet */
  async send(channel: Channel): Promise<ChannelTestResult> {
    const began = this.clock.monotonic();
    const at = this.clock.iso();
    const note = {
      id: `test:${channel.id}:${at}`,
      event: 'channel.test',
      severity: 'low',
      title: 'Test alert',
      text: 'Alerts of this channel arrive here. Nothing to do.',
      url: `/notifications/${channel.id}`,
      at,
      fault: `test:${channel.id}:${at}`,
      end: false,
    } as const;
    let results = await this.dispatcher.sendTest(channel, note);
    const isAlert = ALERT_KINDS.has(channel.kind) && results.every(({ state }) => state === 'sent');
    if (isAlert) results = await this.dispatcher.sendTest(channel, { ...note, end: true });
    const error = describeFailures(results);
    if (error === null) await this.recordTest(channel.id);
    return {
      state: error === null ? 'sent' : 'failed',
      duration_ms: Math.round(this.clock.monotonic() - began),
      error,
      // A single receiver has `error`.
      recipients: results.filter(({ address }) => address !== ''),
    };
  }
}
