/** A channel: where notes go. Its target and secrets are stored sealed. */
import joi from 'joi';
import type { Doc } from '../../../kernel/contract.js';
import { isTimezone, type Quiet } from './quiet.js';

export const KINDS = {
  email: 'E-mail',
  slack: 'Slack, Mattermost or Discord',
  teams: 'Microsoft Teams',
  ntfy: 'ntfy',
} as const;
export type ChannelKind = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as ChannelKind[];

/** After so many failures in a row a channel is switched off, as a webhook is. */
export const MOST_FAILURES = 20;

export interface Channel extends Doc {
  name: string;
  kind: ChannelKind;
  enabled: boolean;
  /** Sealed: the addresses, or the hook's URL (its path is a secret). */
  target: string;
  /** Sealed: the token of an ntfy topic. */
  secret: string | null;
  quiet: Quiet | null;
  /** Critical notes do not wait for the end of quiet hours, nor for the digest. */
  urgent_at_once: boolean;
  /** At most one message in so many minutes; 0: none waits. */
  digest_minutes: number;
  /** The digest holds back until then. */
  next_at: string | null;
  last_sent_at: string | null;
  last_error: string | null;
  failure_count: number;
  disabled_reason: string | null;
  /** Who sends at the moment, and until when at the longest. */
  lease_by: string | null;
  lease_until: string | null;
  created_at: string;
  created_by: string;
  updated_at: string;
}

export interface ChannelFields {
  name: string;
  kind: ChannelKind;
  target: string;
  secret: string | null;
  quiet_from: string | null;
  quiet_to: string | null;
  timezone: string;
  urgent_at_once: boolean;
  digest_minutes: number;
  enabled: boolean;
}

const clock = joi
  .string()
  .pattern(/^([01]\d|2[0-3]):[0-5]\d$/)
  .empty('')
  .default(null)
  .messages({ 'string.pattern.base': 'Write it as 22:00.' });
const ADDRESSES = /^[^\s@,]+@[^\s@,]+(\s*,\s*[^\s@,]+@[^\s@,]+)*$/;

const TARGETS: Readonly<Record<'email' | 'hook', joi.StringSchema>> = {
  email: joi
    .string()
    .trim()
    .max(1_000)
    .pattern(ADDRESSES)
    .messages({ 'string.pattern.base': 'Write e-mail addresses, separated by commas.' }),
  hook: joi
    .string()
    .trim()
    .max(2_000)
    .uri({ scheme: ['http', 'https'] })
    .messages({ 'string.uriCustomScheme': 'Write an http or https address.' }),
};

/** What the form of a channel of this kind sends; the URL is judged by the egress policy besides. */
export const channelFields = (kind: unknown): joi.ObjectSchema<ChannelFields> =>
  joi
    .object<ChannelFields>({
      name: joi.string().trim().max(100).required(),
      kind: joi.valid(...KIND_NAMES).required(),
      target: TARGETS[kind === 'email' ? 'email' : 'hook'].required(),
      secret: joi.string().max(500).empty('').default(null),
      quiet_from: clock,
      quiet_to: clock,
      timezone: joi
        .string()
        .max(60)
        .custom((value: string, helpers) => (isTimezone(value) ? value : helpers.error('any.invalid')))
        .required()
        .messages({ 'any.invalid': 'There is no such time zone; write it as Europe/Berlin.' }),
      urgent_at_once: joi.boolean().default(false),
      digest_minutes: joi.number().integer().min(0).max(1_440).empty('').default(0),
      enabled: joi.boolean().default(false),
    })
    .required();

/** What may be shown of a target: all of an e-mail's, of a hook only scheme and host, for its path is the secret. */
export function shownTarget(kind: ChannelKind, target: string): string {
  if (kind === 'email') return target;
  const { protocol, host } = new URL(target);
  return `${protocol}//${host}/…`;
}
