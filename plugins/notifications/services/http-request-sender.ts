import { createHmac } from 'node:crypto';
import type { Clock } from '../../../ports/clock.js';
import type { EgressPolicy, Outbound } from '../../../ports/outbound.js';
import type { Scalar } from '../../../ports/store/index.js';
import type { ChannelDestination } from '../channels/channel.js';
import type { NotificationMessage, MessageLine } from '../notes/message.js';
import { HttpSender, type ChannelRequest } from './http-sender.js';

const PLACEHOLDER_PATTERN = /\{\{\s*([a-z_]{1,40})\s*\}\}/g;

function buildTemplateValues(id: string, { details, ...line }: MessageLine, subject: string): Record<string, Scalar> {
  return {
    id,
    subject,
    event: line.event,
    phase: line.phase,
    severity: line.severity,
    title: line.title,
    text: line.text,
    url: line.url,
    at: line.at,
    local_time: line.when,
    key: line.key,
    ...details,
  };
}

/**
 * In JSON, values are escaped, so that external text cannot leave its string. Unknown names become
 * empty.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, Scalar>>, isJson: boolean): string {
  return template.replace(PLACEHOLDER_PATTERN, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? String(values[name] ?? '') : '';
    return isJson ? JSON.stringify(value).slice(1, -1) : value;
  });
}

export class HttpRequestSender extends HttpSender {
  readonly limits = { notes: 1, bytes: 100_000 };

  constructor(
    outbound: Outbound,
    policy: EgressPolicy,
    version: string,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    super(outbound, policy, version);
  }

  protected buildRequest(
    { id, subject, lines: [line] }: NotificationMessage,
    destination: ChannelDestination,
  ): ChannelRequest | null {
    if (line === undefined) return null;
    const { target, secret, template } = destination;
    const headers = Object.fromEntries(
      Object.entries(destination.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const isJson = /json/i.test(headers['content-type'] ?? 'application/json');
    const values = buildTemplateValues(id, line, subject);
    const body = template === null ? JSON.stringify(values) : fillTemplate(template, values, isJson);
    return { url: target, headers: { ...headers, ...buildSignatureHeaders(secret, body, id, this.clock.now()) }, body };
  }
}

/** See contract 70, payload and signature. */
function buildSignatureHeaders(secret: string | null, body: string, id: string, now: number): Record<string, string> {
  if (secret === null) return { 'x-svc-delivery': id };
  const timestamp = String(Math.floor(now / 1_000));
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return { 'x-svc-delivery': id, 'x-svc-timestamp': timestamp, 'x-svc-signature': `sha256=${signature}` };
}
