/** Hooks of chat services: one POST of JSON, under the egress policy. */
import { OutboundError, type EgressPolicy, type Outbound } from '../../../ports/outbound.js';
import type { NoteSeverity } from '../notes/note.js';
import type { Message } from '../notes/message.js';
import { cardText, slackMarkdown, slackText, unlinked } from './escaping.js';
import { SendError, textOf, type Sender } from './sender.js';

const COLOURS: Readonly<Record<NoteSeverity, string>> = {
  critical: '#b3173c',
  high: '#d1492e',
  medium: '#d18a12',
  low: '#3f83d6',
};
const GREEN = '#2f9e5f';

/** Adaptive cards know names of colours only. */
const CARD_COLOURS: Readonly<Record<NoteSeverity, string>> = {
  critical: 'Attention',
  high: 'Attention',
  medium: 'Warning',
  low: 'Default',
};

const PRIORITIES: Readonly<Record<NoteSeverity, number>> = { critical: 5, high: 4, medium: 3, low: 2 };

/** Statuses after which the same request may be taken later. */
const isTransient = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500;

export abstract class HookSender implements Sender {
  constructor(
    private readonly outbound: Outbound,
    private readonly policy: EgressPolicy,
    private readonly version: string,
  ) {}

  /** The address and the body for this service. */
  protected abstract request(message: Message, target: string): { url: string; body: unknown };

  async send(message: Message, target: string, secret: string | null): Promise<void> {
    const { url, body } = this.request(message, target);
    const headers = {
      'content-type': 'application/json',
      'user-agent': `AOS/${this.version}`,
      ...(secret !== null && { authorization: `Bearer ${secret}` }),
    };
    const { policy } = this;
    const answer = await this.outbound
      .request({ method: 'POST', url, headers, body: JSON.stringify(body), policy, maxBytes: 2_048 })
      .catch((error: unknown) => {
        if (!(error instanceof OutboundError)) throw error;
        throw new SendError(
          `${error.fault}: ${error.message}`,
          error.fault === 'blocked' || error.fault === 'invalid_url',
        );
      });
    if (answer.status >= 200 && answer.status < 300) return;
    throw new SendError(`The receiver answered HTTP ${answer.status}.`, !isTransient(answer.status));
  }
}

/** Slack itself is asked not to read markup; who else takes its form reads Markdown in texts, though not in titles. */
const SLACK = /(?:^|\.)slack(?:-gov)?\.com$/;

/** Slack's incoming webhooks; Mattermost takes the same, Discord below `…/slack`. */
export class SlackSender extends HookSender {
  protected request({ subject, lines, more, url }: Message, target: string): { url: string; body: unknown } {
    const marked = SLACK.test(new URL(target).hostname) ? slackText : slackMarkdown;
    const attachments = lines.map((line) => ({
      color: line.end ? GREEN : COLOURS[line.severity],
      fallback: slackText(line.title),
      title: slackText(line.title),
      title_link: line.url,
      text: marked(line.text),
      mrkdwn_in: [],
    }));
    const rest = { fallback: `and ${more} more`, title: `and ${more} more`, title_link: url };
    return {
      url: target,
      body: {
        text: marked(subject),
        mrkdwn: false,
        parse: 'none',
        unfurl_links: false,
        attachments: more > 0 ? [...attachments, rest] : attachments,
      },
    };
  }
}

/** Teams' workflows: an adaptive card. */
export class TeamsSender extends HookSender {
  protected request({ subject, lines, more, url }: Message, target: string): { url: string; body: unknown } {
    const items = lines.map((line) => ({
      type: 'Container',
      separator: true,
      items: [
        {
          type: 'TextBlock',
          wrap: true,
          weight: 'Bolder',
          color: line.end ? 'Good' : CARD_COLOURS[line.severity],
          text: `[${cardText(line.title)}](${line.url})`,
        },
        { type: 'TextBlock', wrap: true, spacing: 'None', text: cardText(line.text) },
      ],
    }));
    const rest = more > 0 ? [{ type: 'TextBlock', text: `and ${more} more` }] : [];
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      fallbackText: unlinked(subject),
      body: [...items, ...rest],
      actions: [{ type: 'Action.OpenUrl', title: 'Open AOS', url }],
    };
    const attachments = [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }];
    return { url: target, body: { type: 'message', attachments } };
  }
}

/** ntfy: the topic is the last segment of the address; its JSON goes to the server's root. */
export class NtfySender extends HookSender {
  protected request(message: Message, target: string): { url: string; body: unknown } {
    const { origin, pathname } = new URL(target);
    const [first] = message.lines;
    return {
      url: `${origin}/`,
      body: {
        topic: decodeURIComponent(/([^/]*)\/*$/.exec(pathname)?.[1] ?? ''),
        title: unlinked(message.subject),
        message: textOf(message),
        priority: PRIORITIES[message.severity],
        click: message.lines.length === 1 && first ? first.url : message.url,
      },
    };
  }
}
