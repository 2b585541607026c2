import { inject, injectable, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { OutboundError, type OutboundResponse, type Outbound, type EgressPolicy } from '../../../ports/outbound.js';
import type { DomainEvent } from '../../../ports/events.js';
import { DEPS } from '../deps.js';
import { parseRetryAfter } from '../model/retry-schedule.js';
import { WebhookSecretService } from './webhook-secret-service.js';
import { buildSignatureHeaders } from './signature.js';
import type { Webhook } from '../model/webhook.js';
import type { AttemptDataProvider } from '../../../ports/domain/webhooks.js';

const CONNECT_TIMEOUT_MS = 5_000;
export const ATTEMPT_TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 65_536;
const MAX_EXCERPT_CHARACTERS = 2_048;

export interface DeliveryRequest {
  event_id: string;
  event: string;
  body: string;
  delivery_id: string;
  /** From 1. */
  attempt: number;
}

export const DELIVERY_VERDICTS = ['success', 'failed', 'blocked'] as const;

export interface DeliveryResult {
  verdict: (typeof DELIVERY_VERDICTS)[number];
  at: string;
  status_code: number | null;
  duration_ms: number;
  error: string | null;
  excerpt: string | null;
  public: boolean;
  retry_after_ms: number | null;
}

@injectable()
export class WebhookSender {
  constructor(
    @inject(DEPS.attemptData) private readonly attemptData: () => readonly AttemptDataProvider[],
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.outbound) private readonly outbound: Outbound,
    @inject(DEPS.policy) private readonly policy: EgressPolicy,
    @inject(DEPS.version) private readonly version: string,
    @inject(WebhookSecretService) private readonly secrets: WebhookSecretService,
  ) {}

  /** Never throws because of a receiver. */
  async send(webhook: Webhook, given: DeliveryRequest): Promise<DeliveryResult> {
    const { clock, outbound, policy } = this;
    const at = clock.now();
    const completed = await this.#addAttemptData(webhook, given);
    const { shipment, secrets } = completed ?? { shipment: given, secrets: [] };
    const headers = this.#buildHeaders(webhook, shipment, Math.floor(at / 1000));
    const started = clock.monotonic();
    const base = {
      at: new Date(at).toISOString(),
      status_code: null,
      excerpt: null,
      public: false,
      retry_after_ms: null,
    };
    if (completed === null)
      return { ...base, verdict: 'failed', duration_ms: 0, error: 'the content of the delivery could not be created' };
    if (headers === null) return { ...base, verdict: 'failed', duration_ms: 0, error: 'no secret to sign with' };
    try {
      const response = await outbound.request({
        method: 'POST',
        url: webhook.url,
        headers,
        body: shipment.body,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        timeoutMs: ATTEMPT_TIMEOUT_MS,
        maxBytes: MAX_RESPONSE_BYTES,
        policy,
      });
      return { ...base, ...toDeliveryResult(response, clock.now(), secrets) };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      const isRejected = error.fault === 'blocked' || error.fault === 'invalid_url';
      return {
        ...base,
        verdict: isRejected ? 'blocked' : 'failed',
        duration_ms: Math.round(clock.monotonic() - started),
        error: `${error.fault}: ${error.message}`,
      };
    }
  }

  async #addAttemptData(
    webhook: Webhook,
    shipment: DeliveryRequest,
  ): Promise<{ shipment: DeliveryRequest; secrets: readonly string[] } | null> {
    // The webhook may no longer list the event.
    const named = webhook.events.includes(shipment.event);
    const makers = named ? this.attemptData().filter(({ event }) => event === shipment.event) : [];
    if (makers.length === 0) return { shipment, secrets: [] };
    try {
      const event = JSON.parse(shipment.body) as DomainEvent<object>;
      const made = await Promise.all(makers.map((maker) => maker.buildData(event, webhook.id)));
      const data = Object.assign({ ...event.data }, ...made.map((one) => one.data)) as object;
      const body = JSON.stringify({ ...event, data });
      return { shipment: { ...shipment, body }, secrets: made.flatMap((one) => one.secrets) };
    } catch (err) {
      this.log.warn(
        { err, event: shipment.event_id },
        'the content of a delivery could not be created; this will be retried',
      );
      return null;
    }
  }

  #buildHeaders(webhook: Webhook, shipment: DeliveryRequest, timestamp: number): Record<string, string> | null {
    const signing = this.secrets.getSigningKeys(webhook);
    if (signing === null) return null;
    const { event_id, event, body, delivery_id, attempt } = shipment;
    return {
      'content-type': 'application/json',
      'user-agent': `AOS/${this.version}`,
      'x-svc-event': event,
      'x-svc-delivery': delivery_id,
      'x-svc-attempt': String(attempt),
      'x-svc-timestamp': String(timestamp),
      ...buildSignatureHeaders(signing.current, signing.previous, { event_id, timestamp, body }),
    };
  }
}

/** A receiver may echo the request, so secrets are removed before truncation. */
function toExcerpt(body: Buffer, secrets: readonly string[]): string {
  if (secrets.length === 0) return body.subarray(0, MAX_EXCERPT_CHARACTERS).toString('utf8');
  const text = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[removed]'), body.toString('utf8'));
  return text.slice(0, MAX_EXCERPT_CHARACTERS).toWellFormed();
}

function toDeliveryResult(
  response: OutboundResponse,
  now: number,
  secrets: readonly string[],
): Omit<DeliveryResult, 'at'> {
  const { status, headers, body, duration_ms } = response;
  const ok = status >= 200 && status < 300;
  const redirect = status >= 300 && status < 400;
  return {
    verdict: ok ? 'success' : 'failed',
    status_code: status,
    duration_ms,
    error: ok ? null : `HTTP ${status}${redirect ? ': redirects are not followed' : ''}`,
    excerpt: toExcerpt(body, secrets),
    public: response.public,
    retry_after_ms: parseRetryAfter(headers['retry-after'], now),
  };
}
