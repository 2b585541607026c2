import joi from 'joi';
import { MANAGED_FIELD, withSchemaName, whole, type Doc } from '../../../kernel/contract/index.js';
import { toIsoString } from '../../../lib/time.js';
import type { Mute } from '../../../ports/domain/bugs.js';
import { timestampSchema } from '../timestamp.js';

export const MATCH_TYPES = ['contains', 'regex', 'exception_class'] as const;
export type MatchType = (typeof MATCH_TYPES)[number];

export const MAX_PATTERN_LENGTH = 500;
const MAX_NAME_LENGTH = 200;
const MAX_REASON_LENGTH = 1000;
const MAX_ENVIRONMENT_LENGTH = 200;
const MAX_THRESHOLD_VALUE = 2_147_483_647;

export interface RuleCriteria {
  match_type: MatchType;
  pattern: string;
  case_sensitive: boolean;
  project: string | null;
  environment: string | null;
}

export interface IgnoreRule extends Doc, RuleCriteria {
  name: string;
  reason: string;
  alarm_threshold: number | null;
  enabled: boolean;
  expires_at: string | null;
  hit_count: number;
  last_hit_at: string | null;
  is_template: boolean;
  /** Created by an apply. */
  managed?: true;
  created_by: string;
  created_at: string;
  updated_at: string;
  /** Of a change that may unmute groups; null when done (rule-reconciler.ts). */
  settle_at: string | null;
  /** Deleted, but its groups may still be muted. */
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
  managed?: true;
}

/** Expiry is evaluated here, not by a job. `now` in milliseconds. */
export const isActive = (rule: Pick<IgnoreRule, 'enabled' | 'expires_at' | 'deleted_at'>, now: number): boolean =>
  rule.enabled && rule.deleted_at === null && (rule.expires_at === null || Date.parse(rule.expires_at) > now);

export const toMute = ({ id, reason, alarm_threshold }: IgnoreRule): Mute => ({ rule_id: id, reason, alarm_threshold });

export function toRuleView({ settle_at: _settle, deleted_at: _deleted, ...shown }: IgnoreRule): RuleView {
  return shown;
}

export const getRuleName = (name: string | null | undefined, pattern: string): string =>
  name?.trim() || pattern.replace(/\p{Cc}/gu, ' ').slice(0, MAX_NAME_LENGTH);

/** Not every store preserves NUL and unpaired surrogates. */
const buildTextSchema = (max: number): joi.StringSchema =>
  joi
    .string()
    .max(max)
    .pattern(/\0/, { invert: true, name: 'text without NUL' })
    .pattern(/\p{Surrogate}/u, { invert: true, name: 'whole text' });

const matchTypeSchema = withSchemaName('MatchType', joi.string().valid(...MATCH_TYPES));

const fieldSchemas = {
  name: buildTextSchema(MAX_NAME_LENGTH).allow('', null).description('Defaults to its pattern'),
  match_type: matchTypeSchema,
  pattern: buildTextSchema(MAX_PATTERN_LENGTH)
    .min(1)
    .description(
      '`contains`: part of the title, the message or `Class: message`; `regex`: RE2 syntax, searched in each of them; ' +
        '`exception_class`: the whole class, its last segment, or a prefix that ends in `*`',
    ),
  case_sensitive: joi.boolean().description('Default false'),
  project: buildTextSchema(64).allow('', null).description('Slug; null for all projects'),
  environment: buildTextSchema(MAX_ENVIRONMENT_LENGTH).allow('', null).description('null for all environments'),
  reason: buildTextSchema(MAX_REASON_LENGTH).allow('', null).description('Why this is noise; required'),
  alarm_threshold: joi
    .number()
    .integer()
    .min(1)
    .max(MAX_THRESHOLD_VALUE)
    .allow(null)
    .description('Sends `error.rate_exceeded` when a muted group occurs more often than this in the rolling hour'),
  enabled: joi.boolean().description('Default true'),
  expires_at: timestampSchema
    .custom((text: string) => toIsoString(Date.parse(text)))
    .allow(null)
    .description('When it stops muting'),
};

export const ruleCreationSchema = withSchemaName(
  'IgnoreRuleCreation',
  joi
    .object({
      ...fieldSchemas,
      match_type: fieldSchemas.match_type.required(),
      pattern: fieldSchemas.pattern.required(),
    })
    .example({
      match_type: 'contains',
      pattern: 'ECONNRESET',
      reason: 'Clients that disconnect',
      alarm_threshold: 100,
    }),
);
export const ruleChangeSchema = withSchemaName('IgnoreRuleChange', joi.object(fieldSchemas));

const isoDateSchema = joi.string().isoDate();
export const ruleSchema = withSchemaName(
  'IgnoreRule',
  whole({
    id: joi.string(),
    name: joi.string(),
    match_type: matchTypeSchema,
    pattern: joi.string(),
    case_sensitive: joi.boolean(),
    project: joi.string().allow(null),
    environment: joi.string().allow(null),
    reason: joi.string(),
    alarm_threshold: joi.number().integer().allow(null),
    enabled: joi.boolean(),
    expires_at: isoDateSchema.allow(null),
    hit_count: joi.number().integer().description('Occurrences that it muted'),
    last_hit_at: isoDateSchema.allow(null),
    is_template: joi.boolean().description('Provided with the service, to be edited and enabled'),
    created_by: joi.string(),
    created_at: isoDateSchema,
    updated_at: isoDateSchema,
  }).keys({ managed: MANAGED_FIELD }),
);
