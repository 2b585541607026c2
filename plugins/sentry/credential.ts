/**
 * Where Sentry SDKs send it (contract 21, Sentry SDK intake): `X-Sentry-Auth`, `?sentry_key=`, the
 * DSN in the envelope header, or `Authorization: Sentry …`; also a service token as Bearer.
 */
import { parseEnvelopeHeader } from './envelope.js';

/** In any order, separated by commas or spaces. */
const KEY_PAIR_PATTERN = /(?:^|[\s,])sentry_key\s*=\s*"?([\x21\x23-\x2b\x2d-\x7e]{1,200})/i;
const BEARER_PATTERN = /^bearer +([\x21-\x7e]{1,1024}) *$/i;
/** `https://<key>[:<secret>]@host/<number>` */
const DSN_PATTERN = /^https?:\/\/([\x21-\x2e\x30-\x39\x3b-\x3f\x41-\x7e]{1,200})(?::[^@/]{0,200})?@/i;

type KeySource = {
  headers: Readonly<Record<string, string | undefined>>;
  query: Record<string, unknown>;
  body: unknown;
};

/** `body` is null until it has been read. */
export function findIntakeKey({ headers, query, body }: KeySource): string | null {
  if (body !== null) return Buffer.isBuffer(body) ? findDsnKey(body) : null;
  const { authorization } = headers;
  return (
    KEY_PAIR_PATTERN.exec(headers['x-sentry-auth'] ?? '')?.[1] ??
    toFirstText(query['sentry_key']) ??
    (authorization === undefined
      ? null
      : (KEY_PAIR_PATTERN.exec(authorization)?.[1] ?? BEARER_PATTERN.exec(authorization)?.[1] ?? null))
  );
}

function toFirstText(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== '' ? first : null;
}

function findDsnKey(body: Buffer): string | null {
  const dsn = parseEnvelopeHeader(body)?.['dsn'];
  return typeof dsn === 'string' ? (DSN_PATTERN.exec(dsn)?.[1] ?? null) : null;
}
