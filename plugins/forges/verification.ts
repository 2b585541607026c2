/**
 * By each forge's signature scheme, over the raw body before it is parsed and in constant time
 * (contract 20, forges).
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';

export const FORGES = ['github', 'gitlab', 'gitea'] as const;
export type Forge = (typeof FORGES)[number];

/** Lower-case names. */
type Headers = Readonly<Record<string, string | undefined>>;

interface Delivery {
  headers: Headers;
  body: Buffer;
  secret: string;
  /** Milliseconds since the epoch. */
  now: number;
}

/** Prefix of Standard Webhooks, which GitLab requires for signing tokens. */
const SECRET_PREFIX = 'whsec_';
/** Maximum clock difference of a signed delivery (Standard Webhooks). */
const TIMESTAMP_TOLERANCE_MS = 5 * 60_000;
const MAX_SIGNATURES = 5;

const isEqualInConstantTime = (a: string, b: string): boolean =>
  timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));

const computeHmac = (secret: string | Buffer, body: Buffer): string =>
  createHmac('sha256', secret).update(body).digest('hex');

const VERIFIERS: Readonly<Record<Forge, (delivery: Delivery) => boolean>> = {
  github: ({ headers, body, secret }) =>
    isEqualInConstantTime(`sha256=${computeHmac(secret, body)}`, headers['x-hub-signature-256'] ?? ''),
  gitea: ({ headers, body, secret }) =>
    isEqualInConstantTime(computeHmac(secret, body), headers['x-gitea-signature'] ?? ''),
  gitlab: (delivery) => {
    const token = isEqualInConstantTime(delivery.secret, delivery.headers['x-gitlab-token'] ?? '');
    return isStandardSignatureValid(delivery) || token;
  },
};

/** @param secret the project's `forge_secret` */
export const isGenuine = (forge: Forge, delivery: Delivery): boolean => VERIFIERS[forge](delivery);

/** `webhook-signature: v1,<base64>` over `<id>.<timestamp>.<body>`: GitLab with a signing token. */
function isStandardSignatureValid({ headers, body, secret, now }: Delivery): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp = '', 'webhook-signature': given } = headers;
  if (id === undefined || given === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const made = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  const recent = Math.abs(now - Number(timestamp) * 1000) <= TIMESTAMP_TOLERANCE_MS;
  const fits = given.split(' ', MAX_SIGNATURES).map((one) => isEqualInConstantTime(`v1,${made}`, one));
  return recent && fits.includes(true);
}
