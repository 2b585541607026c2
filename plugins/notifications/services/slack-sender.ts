/** Also accepted by Mattermost, and by Discord below `…/slack`. */
import type { ChannelDestination } from '../channels/channel.js';
import type { NotificationMessage, MessageLine } from '../notes/message.js';
import { toSlackMarkdown, toSlackText } from './text-escaping.js';
import { getSeverityColor } from './severity-colors.js';
import { HttpSender, type ChannelRequest } from './http-sender.js';

/** Compatible services parse Markdown in texts, but not in titles. */
const SLACK_HOST_PATTERN = /(?:^|\.)slack(?:-gov)?\.com$/;

export class SlackSender extends HttpSender {
  // Discord: 10 embeds, 6,000 characters in total, titles of 256; Slack: 3,000 per block.
  readonly limits = { notes: 10, bytes: 2_900, title: 250 };

  override measure({ title, text, url }: MessageLine): number {
    return Buffer.byteLength(toSlackText(title)) + Buffer.byteLength(toSlackMarkdown(text)) + Buffer.byteLength(url);
  }

  protected buildRequest({ subject, lines }: NotificationMessage, { target }: ChannelDestination): ChannelRequest {
    const marked = SLACK_HOST_PATTERN.test(new URL(target).hostname) ? toSlackText : toSlackMarkdown;
    const attachments = lines.map((line) => ({
      color: getSeverityColor(line),
      fallback: toSlackText(line.title),
      title: toSlackText(line.title),
      title_link: line.url,
      text: marked(line.text),
      ts: Math.floor(Date.parse(line.at) / 1_000),
      mrkdwn_in: [],
    }));
    const text = marked(subject);
    return { url: target, body: { text, mrkdwn: false, parse: 'none', unfurl_links: false, attachments } };
  }
}
