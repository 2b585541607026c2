import joi from 'joi';
import { MANAGED_FIELD, whole, withSchemaName, type Doc } from '../../kernel/contract/index.js';
import type { Item, Severity } from '../../ports/domain/bugs.js';

export interface RequestRule extends Doc {
  project: string | null;
  severity: Severity | null;
  tag: string | null;
  agent: string;
  enabled: boolean;
  /** Created by an apply. */
  managed?: true;
  created_by: string;
  created_at: string;
}

export interface RequestRuleFields {
  project?: string | null;
  severity?: Severity | null;
  tag?: string | null;
  agent?: string;
  enabled?: boolean;
  managed?: true;
}

const ORDERED_SEVERITIES: readonly Severity[] = ['low', 'medium', 'high', 'critical'];
export const RULE_SEVERITIES = ORDERED_SEVERITIES;

export function matchesRequestRule(rule: RequestRule, item: Pick<Item, 'project' | 'severity' | 'tags'>): boolean {
  if (!rule.enabled || (rule.project !== null && rule.project !== item.project)) return false;
  if (rule.severity !== null && ORDERED_SEVERITIES.indexOf(item.severity) < ORDERED_SEVERITIES.indexOf(rule.severity))
    return false;
  return rule.tag === null || item.tags.includes(rule.tag);
}

export function formatRuleName({ project, severity, tag }: RequestRule): string {
  const grave = severity === null ? 'all items' : severity === 'critical' ? 'critical' : `${severity} or graver`;
  return [grave, project === null ? '' : `of ${project}`, tag === null ? '' : `tagged ${tag}`]
    .filter(Boolean)
    .join(' ');
}

const buildLineSchema = (max: number): joi.StringSchema =>
  joi
    .string()
    .trim()
    .max(max)
    .pattern(/\p{Cc}/u, { invert: true, name: 'free of control characters' });

export const agentNameSchema = buildLineSchema(100).min(1).description('The name under which the agent claims');

const fieldSchemas = {
  project: buildLineSchema(64).empty('').allow(null).description('Null for all projects'),
  severity: joi
    .string()
    .valid(...ORDERED_SEVERITIES)
    .empty('')
    .allow(null)
    .description('Minimum severity; null for any'),
  tag: buildLineSchema(200).empty('').allow(null).description('A tag of the item; null for any'),
  enabled: joi.boolean(),
};
export const ruleCreationSchema = withSchemaName(
  'RequestRuleCreation',
  joi
    .object({ ...fieldSchemas, agent: agentNameSchema.required() })
    .example({ project: 'shop', severity: 'high', agent: 'fixer' }),
);
export const ruleChangeSchema = withSchemaName(
  'RequestRuleChange',
  joi.object({ ...fieldSchemas, agent: agentNameSchema }),
);

export const ruleSchema = withSchemaName(
  'RequestRule',
  whole({
    id: joi.string(),
    project: joi.string().allow(null),
    severity: joi
      .string()
      .valid(...ORDERED_SEVERITIES)
      .allow(null),
    tag: joi.string().allow(null),
    agent: joi.string(),
    enabled: joi.boolean(),
    created_by: joi.string(),
    created_at: joi.string().isoDate(),
  }).keys({ managed: MANAGED_FIELD }),
);
