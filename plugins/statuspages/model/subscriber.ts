import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import joi from 'joi';
import { withSchemaName, whole } from '../../../kernel/contract/index.js';
import type { Doc } from '../../../ports/store/index.js';

export const MAX_SUBSCRIBERS = 5_000;
const MAX_EMAIL_CHARACTERS = 254;
const EMAIL_PATTERN =
  /^[^\s@,;:<>()[\]\\"\p{Cc}\p{Cf}]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}$/u;

export interface SubscriberDoc extends Doc {
  page_id: string;
  /** Page and lower-case address, for uniqueness. */
  key: string;
  email: string;
  created_at: string;
  /** Until then nothing but the confirmation is sent. */
  confirmed_at: string | null;
  /** SHA-256, or null. */
  confirm_hash: string | null;
  confirm_until: string | null;
}

export interface SubscriberView {
  id: string;
  email: string;
  confirmed: boolean;
  created_at: string;
  confirmed_at: string | null;
}

export const subscriberSchema = withSchemaName(
  'StatusPageSubscriber',
  whole({
    id: joi.string(),
    email: joi.string(),
    confirmed: joi.boolean().description('Updates are only sent to confirmed addresses'),
    created_at: joi.string().isoDate(),
    confirmed_at: joi.string().isoDate().allow(null),
  }),
);

export const toSubscriberView = ({ id, email, created_at, confirmed_at }: SubscriberDoc): SubscriberView => ({
  id,
  email,
  confirmed: confirmed_at !== null,
  created_at,
  confirmed_at,
});

export function parseEmail(given: unknown): string | null {
  const email = typeof given === 'string' ? given.trim() : '';
  return email.length <= MAX_EMAIL_CHARACTERS && EMAIL_PATTERN.test(email) ? email : null;
}

export const toSubscriberKey = (pageId: string, email: string): string => `${pageId}:${email.toLowerCase()}`;

export const hashConfirmationToken = (token: string): string => createHash('sha256').update(token).digest('hex');

const SIGNATURE_CHARACTERS = 32;

/**
 * Signs for unsubscribe links.
 * @param key a MAC key of the service
 */
export const formatUnsubscribeToken = (id: string, key: Buffer): string =>
  `${id}.${createHmac('sha256', key).update(id).digest('base64url').slice(0, SIGNATURE_CHARACTERS)}`;

/** Returns null when the signature is invalid. */
export function parseUnsubscribeToken(token: string, key: Buffer): string | null {
  const id = token.split('.', 1)[0] ?? '';
  const [given, right] = [Buffer.from(token), Buffer.from(formatUnsubscribeToken(id, key))];
  return given.length === right.length && timingSafeEqual(given, right) ? id : null;
}
