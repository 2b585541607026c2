import { OutboundError, type EgressPolicy, type Outbound, type OutboundResponse } from '../../../ports/outbound.js';
import type { ChannelDestination } from '../channels/channel.js';
import type { NotificationMessage, MessageLine } from '../notes/message.js';
import { toPlainText } from '../notes/plain-text.js';
import { SendError, type MessageLimits, type MessageSender } from './sender.js';

export interface ChannelRequest {
  method?: 'POST' | 'PUT';
  url: string;
  headers?: Record<string, string>;
  body: object | string;
}

const isTransient = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500;
const CONTENT_ERROR_STATUSES: ReadonlySet<number> = new Set([400, 413, 422]);
const MAX_RETRY_AFTER_MS = 3_600_000;
const MAX_EXCERPT_CHARACTERS = 200;
const MAX_RESPONSE_BYTES = 4_096;

export abstract class HttpSender implements MessageSender {
  abstract readonly limits: MessageLimits;

  constructor(
    private readonly outbound: Outbound,
    private readonly policy: EgressPolicy,
    private readonly version: string,
  ) {}

  measure?(line: MessageLine): number;

  protected abstract buildRequest(message: NotificationMessage, destination: ChannelDestination): ChannelRequest | null;

  protected getRetryAfterMs({ headers }: OutboundResponse): number | undefined {
    const seconds = Number(headers['retry-after']);
    return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS) : undefined;
  }

  protected findProblem(_answer: OutboundResponse): string | null {
    return null;
  }

  async send(message: NotificationMessage, destination: ChannelDestination): Promise<void> {
    const request = this.buildRequest(message, destination);
    if (request === null) return;
    const { method = 'POST', url, headers, body } = request;
    const answer = await this.outbound
      .request({
        method,
        url,
        headers: { 'content-type': 'application/json', ...headers, 'user-agent': `AOS/${this.version}` },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        policy: this.policy,
        maxBytes: MAX_RESPONSE_BYTES,
      })
      .catch((error: unknown) => {
        if (!(error instanceof OutboundError)) throw error;
        const permanent = error.fault === 'blocked' || error.fault === 'invalid_url';
        const bare = `${error.fault}: ${error.bareMessage}`;
        throw new SendError(`${error.fault}: ${error.message}`, permanent, { server: true, bare });
      });
    const { status } = answer;
    const problem = status >= 200 && status < 300 ? this.findProblem(answer) : null;
    if (status >= 200 && status < 300 && problem === null) return;
    const excerpt = problem ?? toPlainText(answer.body.toString('utf8'), MAX_EXCERPT_CHARACTERS);
    const retryAfterMs = this.getRetryAfterMs(answer);
    throw new SendError(
      `The receiver responded with HTTP ${status}${excerpt === '' ? '.' : `: ${excerpt}`}`,
      problem !== null || !isTransient(status),
      {
        content: CONTENT_ERROR_STATUSES.has(status),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        ...(!answer.public && { bare: `The receiver responded with HTTP ${status}.` }),
      },
    );
  }
}

export const joinServerPath = (server: string, path: string): string => server.replace(/\/+$/, '') + path;
