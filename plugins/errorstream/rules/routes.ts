import joi from 'joi';
import {
  created,
  deleted,
  withSchemaName,
  createPageSchema,
  whole,
  type RouteSpec,
} from '../../../kernel/contract/index.js';
import type { IgnoreRuleService, RuleQuery } from './ignore-rules.js';
import {
  ruleChangeSchema,
  ruleCreationSchema,
  MATCH_TYPES,
  ruleSchema,
  type RuleCriteria,
  type IgnoreRuleFields,
} from './rule.js';
import { pickWarnings } from '../../../ports/store/skipped-documents.js';

const BASE_PATH = '/api/errors/v1/ignore-rules';
const readAccess = { scope: 'bugtracker:read' } as const;
const manageAccess = { scope: 'bugtracker:manage' } as const;

const paramsSchema = joi.object({ id: joi.string().max(64).required() });
const ruleResponseSchema = withSchemaName('IgnoreRuleAnswer', whole({ rule: ruleSchema }));
const countSchema = joi.number().integer().min(0);
type RuleInput = IgnoreRuleFields & Pick<RuleCriteria, 'match_type' | 'pattern'>;

const sampleSchema = withSchemaName(
  'MatchingGroup',
  whole({
    id: joi.string(),
    ref: joi.string(),
    title: joi.string().allow(''),
    error_message: joi.string().allow(null, ''),
    exception_class: joi.string().allow(null, ''),
    project: joi.string(),
    environment: joi.string().allow(null, ''),
    hit_count: countSchema,
    last_seen_at: joi.string().isoDate(),
    muted: joi.boolean(),
    muted_by_rule_id: joi.string().allow(null),
  }),
);

export function buildIgnoreRuleRoutes(registry: IgnoreRuleService): RouteSpec[] {
  return [...buildCollectionRoutes(registry), ...buildMemberRoutes(registry)];
}

function buildCollectionRoutes(registry: IgnoreRuleService): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: BASE_PATH,
      operationId: 'listIgnoreRules',
      summary: 'List the ignore rules, in order of precedence',
      description:
        'The oldest first: of several matching rules the first one mutes. A token that is bound to a project sees that ' +
        'project’s rules and the rules for all projects.',
      access: readAccess,
      strictQuery: true,
      input: {
        query: joi.object({
          limit: joi.number().integer().min(1).max(200).default(50),
          cursor: joi.string().max(4096),
          include_total: joi.boolean().default(false),
          project: joi.string().max(64).description('Only rules of this project'),
          enabled: joi.boolean(),
          match_type: joi.string().valid(...MATCH_TYPES),
        }),
      },
      output: createPageSchema('IgnoreRulePage', ruleSchema),
      handle: async ({ principal, query }) => {
        const page = await registry.getPage(principal, query as unknown as RuleQuery);
        const shown = {
          items: page.items,
          next_cursor: page.next,
          has_more: page.next !== null,
          ...pickWarnings(page),
        };
        return query['include_total'] === true ? { ...shown, total: await page.count() } : shown;
      },
    },
    {
      method: 'POST',
      path: BASE_PATH,
      operationId: 'createIgnoreRule',
      summary: 'Create an ignore rule',
      description:
        'New matching errors are muted: recorded and counted, without notifications. The rule applies immediately in this ' +
        'process and within two seconds in all others. `apply` mutes existing groups.',
      access: manageAccess,
      input: { body: ruleCreationSchema },
      status: 201,
      output: ruleResponseSchema,
      errors: ['conflict', 'invalid_pattern', 'reason_required', 'unknown_project'],
      handle: async ({ principal, body }) => created({ rule: await registry.create(principal, body as RuleInput) }),
    },
    {
      method: 'POST',
      path: `${BASE_PATH}/preview`,
      operationId: 'previewIgnoreRule',
      summary: 'Count the groups that a rule would match, with up to 20 of them; stores nothing',
      access: readAccess,
      limits: { rate: 'bulk' },
      errors: ['invalid_pattern'],
      input: { body: ruleCreationSchema },
      output: withSchemaName(
        'IgnoreRulePreview',
        whole({
          count: countSchema.description('Groups that match, muted ones included'),
          samples: joi.array().items(sampleSchema).max(20).description('The most recently seen groups'),
          complete: joi.boolean().description('False if there was not enough time to check every group'),
        }),
      ),
      handle: async ({ principal, body }) => {
        const { count: n, samples, complete } = await registry.preview(principal, body as RuleInput);
        return { count: n, samples, complete };
      },
    },
  ];
}

function buildMemberRoutes(registry: IgnoreRuleService): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: `${BASE_PATH}/{id}`,
      operationId: 'getIgnoreRule',
      summary: 'One ignore rule',
      access: readAccess,
      input: { params: paramsSchema },
      output: ruleResponseSchema,
      handle: async ({ principal, params: { id = '' } }) => ({ rule: await registry.get(principal, id) }),
    },
    {
      method: 'PATCH',
      path: `${BASE_PATH}/{id}`,
      operationId: 'changeIgnoreRule',
      summary: 'Change an ignore rule',
      description:
        'Groups that the rule muted and no longer matches are unmuted before the response. If that takes more than five ' +
        'seconds, the rest follows later. Disabling a rule unmutes all its groups.',
      access: manageAccess,
      input: { params: paramsSchema, body: ruleChangeSchema },
      output: ruleResponseSchema,
      errors: ['conflict', 'invalid_pattern', 'reason_required', 'unknown_project'],
      handle: async ({ principal, params: { id = '' }, body }) => ({
        rule: await registry.change(principal, id, body as IgnoreRuleFields),
      }),
    },
    {
      method: 'DELETE',
      path: `${BASE_PATH}/{id}`,
      operationId: 'deleteIgnoreRule',
      summary: 'Delete an ignore rule and unmute its groups',
      access: manageAccess,
      input: { params: paramsSchema },
      output: deleted,
      handle: async ({ principal, params: { id = '' } }) => {
        await registry.remove(principal, id);
        return { deleted: true };
      },
    },
    {
      method: 'POST',
      path: `${BASE_PATH}/{id}/apply`,
      operationId: 'applyIgnoreRule',
      errors: ['conflict'],
      summary: 'Mute existing matching groups; responds when done',
      description: 'Safe to repeat: already muted groups are skipped. With `dry_run` nothing is muted.',
      access: manageAccess,
      limits: { rate: 'bulk' },
      input: { params: paramsSchema, body: joi.object({ dry_run: joi.boolean().default(false) }), optionalBody: true },
      output: withSchemaName(
        'IgnoreRuleApplied',
        whole({
          matched: countSchema.description('Groups that match'),
          muted: countSchema.description('Groups that this request muted'),
          skipped: countSchema.description('Matching groups that were already muted'),
        }),
      ),
      handle: async ({ principal, params: { id = '' }, body, signal }) => {
        const { dry_run } = (body ?? {}) as { dry_run?: boolean };
        return { ...(await registry.apply(principal, id, { dry_run: dry_run === true, signal })) };
      },
    },
  ];
}
