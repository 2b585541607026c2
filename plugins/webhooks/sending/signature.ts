/**
 * The service's own covers `<timestamp>.<body>`, Standard Webhooks' `<id>.<timestamp>.<body>`
 * (contract 70, payload and signature). Both are HMAC-SHA256 of the current secret and, for a day
 * after a rotation, the previous one.
 */
import { createHmac, randomBytes } from 'node:crypto';

const BASE64_PATTERN = /^[A-Za-z0-9+/]+={0,2}$/;
const SECRET_PREFIX = 'whsec_';

/** 256 bits, as in Standard Webhooks. */
export const createWebhookSecret = (): string => SECRET_PREFIX + randomBytes(32).toString('base64');

/** Returns the base64 part after `whsec_` when it has 24 to 64 bytes, else the text itself. */
export function getStandardKey(secret: string): Buffer {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : '';
  const bytes = BASE64_PATTERN.test(text) && text.length % 4 !== 1 ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  return bytes.length >= 24 && bytes.length <= 64 ? bytes : Buffer.from(secret, 'utf8');
}

/**
 * `sha256=<hex>` over `<timestamp>.<body>`.
 * @param timestamp Unix seconds
 */
export const signBody = (secret: string, timestamp: number, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;

/** `v1,<base64>` over `<id>.<timestamp>.<body>`. */
export const signStandard = (secret: string, id: string, timestamp: number, body: string): string =>
  `v1,${createHmac('sha256', getStandardKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`;

export interface SignedContent {
  event_id: string;
  /** Unix seconds. */
  timestamp: number;
  body: string;
}

export function buildSignatureHeaders(
  current: string,
  previous: string | null,
  signed: SignedContent,
): Record<string, string> {
  const { event_id, timestamp, body } = signed;
  const secrets = previous === null ? [current] : [current, previous];
  return {
    'x-svc-signature': signBody(current, timestamp, body),
    ...(previous !== null && { 'x-svc-signature-previous': signBody(previous, timestamp, body) }),
    'webhook-id': event_id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map((secret) => signStandard(secret, event_id, timestamp, body)).join(' '),
  };
}
