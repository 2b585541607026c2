import joi from 'joi';
import { named, whole, type Doc } from '../../../kernel/contract.js';
import { isoOf } from '../../../lib/time.js';
import type { Mute } from '../../../ports/domain/bugs.js';
import { moment } from '../moment.js';

export const MATCH_TYPES = ['contains', 'regex', 'exception_class'] as const;
export type MatchType = (typeof MATCH_TYPES)[number];

export const PATTERN = 500;
const NAME = 200;
const REASON = 1000;
const ENVIRONMENT = 200;
const MAX_THRESHOLD_VALUE = 2_147_483_647;

export interface Matching {
  match_type: MatchType;
  pattern: string;
  case_sensitive: boolean;
  project: string | null;
  environment: string | null;
}

export interface IgnoreRule extends Doc, Matching {
  name: string;
  reason: string;
  alarm_threshold: number | null;
  enabled: boolean;
  expires_at: string | null;
  hit_count: number;
  last_hit_at: string | null;
  is_template: boolean;
  created_by: string;
  created_at: string;
  updated_at: string;
  /** Time of a change that may unmute groups; null when that work is done (rule-reconciler.ts). */
  settle_at: string | null;
  /** Set on a deleted rule until its groups are unmuted; then the document is deleted. */
  deleted_at: string | null;
}

export type RuleView = Omit<IgnoreRule, 'settle_at' | 'deleted_at'>;

export interface IgnoreRuleFields {
  name?: string | null;
  match_type?: MatchType;
  pattern?: string;
  case_sensitive?: boolean;
  project?: string | null;
  environment?: string | null;
  reason?: string | null;
  alarm_threshold?: number | null;
  enabled?: boolean;
  expires_at?: string | null;
}

/**
 * Checks whether the rule mutes at `now` (milliseconds). Expiry is evaluated here, not by a job.
 */
export const isActive = (rule: Pick<IgnoreRule, 'enabled' | 'expires_at' | 'deleted_at'>, now: number): boolean =>
  rule.enabled && rule.deleted_at === null && (rule.expires_at === null || Date.parse(rule.expires_at) > now);

export const toMute = ({ id, reason, alarm_threshold }: IgnoreRule): Mute => ({ rule_id: id, reason, alarm_threshold });

export function toRuleView({ settle_at: _settle, deleted_at: _deleted, ...shown }: IgnoreRule): RuleView {
  return shown;
}

export const getRuleName = (name: string | null | undefined, pattern: string): string =>
  name?.trim() || pattern.replace(/\p{Cc}/gu, ' ').slice(0, NAME);

/** Not every store preserves NUL and unpaired surrogates. */
const text = (max: number): joi.StringSchema =>
  joi
    .string()
    .max(max)
    .pattern(/\0/, { invert: true, name: 'text without NUL' })
    .pattern(/\p{Surrogate}/u, { invert: true, name: 'whole text' });

const matchType = named('MatchType', joi.string().valid(...MATCH_TYPES));

const fields = {
  name: text(NAME).allow('', null).description('Called by its pattern when left out'),
  match_type: matchType,
  pattern: text(PATTERN)
    .min(1)
    .description(
      '`contains`: part of the title, the message or `Class: message`; `regex`: RE2 syntax, searched in each of them; ' +
        '`exception_class`: the whole class, its last segment, or a beginning that ends in `*`',
    ),
  case_sensitive: joi.boolean().description('Default false'),
  project: text(64).allow('', null).description('Slug; null: every project'),
  environment: text(ENVIRONMENT).allow('', null).description('null: every environment'),
  reason: text(REASON).allow('', null).description('Why this is noise; required'),
  alarm_threshold: joi
    .number()
    .integer()
    .min(1)
    .max(MAX_THRESHOLD_VALUE)
    .allow(null)
    .description('`error.rate_exceeded` when a muted group occurs more often than this in the rolling hour'),
  enabled: joi.boolean().description('Default true'),
  expires_at: moment
    .custom((text: string) => isoOf(Date.parse(text)))
    .allow(null)
    .description('From then on it mutes nothing'),
};

export const createBody = named(
  'IgnoreRuleCreation',
  joi
    .object({
      ...fields,
      match_type: fields.match_type.required(),
      pattern: fields.pattern.required(),
    })
    .example({ match_type: 'contains', pattern: 'ECONNRESET', reason: 'Clients that go away', alarm_threshold: 100 }),
);
export const changeBody = named('IgnoreRuleChange', joi.object(fields));

const timestamp = joi.string().isoDate();
export const ruleShape = named(
  'IgnoreRule',
  whole({
    id: joi.string(),
    name: joi.string(),
    match_type: matchType,
    pattern: joi.string(),
    case_sensitive: joi.boolean(),
    project: joi.string().allow(null),
    environment: joi.string().allow(null),
    reason: joi.string(),
    alarm_threshold: joi.number().integer().allow(null),
    enabled: joi.boolean(),
    expires_at: timestamp.allow(null),
    hit_count: joi.number().integer().description('Occurrences that it muted'),
    last_hit_at: timestamp.allow(null),
    is_template: joi.boolean().description('Came with the service, to be edited and enabled'),
    created_by: joi.string(),
    created_at: timestamp,
    updated_at: timestamp,
  }),
);
