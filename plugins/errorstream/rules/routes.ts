import joi from 'joi';
import { created, deleted, named, pageOf, whole, type RouteSpec } from '../../../kernel/contract.js';
import type { Registry, RuleQuery } from './registry.js';
import { changeBody, createBody, MATCH_TYPES, ruleShape, type Matching, type IgnoreRuleFields } from './rule.js';
import { warned } from '../../../ports/store/left-out.js';

const BASE = '/api/errors/v1/ignore-rules';
const read = { scope: 'bugtracker:read' } as const;
const manage = { scope: 'bugtracker:manage' } as const;

const params = joi.object({ id: joi.string().max(64).required() });
const one = named('IgnoreRuleAnswer', whole({ rule: ruleShape }));
const count = joi.number().integer().min(0);
type Given = IgnoreRuleFields & Pick<Matching, 'match_type' | 'pattern'>;

const sample = named(
  'MatchingGroup',
  whole({
    id: joi.string(),
    ref: joi.string(),
    title: joi.string().allow(''),
    error_message: joi.string().allow(null, ''),
    exception_class: joi.string().allow(null, ''),
    project: joi.string(),
    environment: joi.string().allow(null, ''),
    hit_count: count,
    last_seen_at: joi.string().isoDate(),
    muted: joi.boolean(),
    muted_by_rule_id: joi.string().allow(null),
  }),
);

export function buildIgnoreRuleRoutes(registry: Registry): RouteSpec[] {
  return [...collectionRoutes(registry), ...memberRoutes(registry)];
}

function collectionRoutes(registry: Registry): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: BASE,
      operationId: 'listIgnoreRules',
      summary: 'List the ignore rules, in order of precedence',
      description:
        'The oldest first: of several matching rules the first one mutes. A token that is bound to a project sees that ' +
        'project’s rules and the rules for all projects.',
      access: read,
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
      output: pageOf('IgnoreRulePage', ruleShape),
      handle: async ({ principal, query }) => {
        const page = await registry.page(principal, query as unknown as RuleQuery);
        const shown = { items: page.items, next_cursor: page.next, has_more: page.next !== null, ...warned(page) };
        return query['include_total'] === true ? { ...shown, total: await page.count() } : shown;
      },
    },
    {
      method: 'POST',
      path: BASE,
      operationId: 'createIgnoreRule',
      summary: 'Create an ignore rule',
      description:
        'Matching errors are muted from now on: recorded and counted, but kept quiet. The rule applies at once in this ' +
        'process and within two seconds in every other. `apply` mutes the groups that exist already.',
      access: manage,
      input: { body: createBody },
      status: 201,
      output: one,
      errors: ['conflict', 'invalid_pattern', 'reason_required', 'unknown_project'],
      handle: async ({ principal, body }) => created({ rule: await registry.create(principal, body as Given) }),
    },
    {
      method: 'POST',
      path: `${BASE}/preview`,
      operationId: 'previewIgnoreRule',
      summary: 'Count the groups that a rule would match, with up to 20 of them; stores nothing',
      access: read,
      limits: { rate: 'bulk' },
      errors: ['invalid_pattern'],
      input: { body: createBody },
      output: named(
        'IgnoreRulePreview',
        whole({
          count: count.description('Groups that match, muted ones included'),
          samples: joi.array().items(sample).max(20).description('The groups seen last'),
          complete: joi.boolean().description('False: there was not enough time to check every group'),
        }),
      ),
      handle: async ({ principal, body }) => {
        const { count: n, samples, complete } = await registry.preview(principal, body as Given);
        return { count: n, samples, complete };
      },
    },
  ];
}

function memberRoutes(registry: Registry): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: `${BASE}/{id}`,
      operationId: 'getIgnoreRule',
      summary: 'One ignore rule',
      access: read,
      input: { params },
      output: one,
      handle: async ({ principal, params: { id = '' } }) => ({ rule: await registry.get(principal, id) }),
    },
    {
      method: 'PATCH',
      path: `${BASE}/{id}`,
      operationId: 'changeIgnoreRule',
      summary: 'Change an ignore rule',
      description:
        'Groups that the rule muted and no longer matches are unmuted before the answer. If that takes more than five ' +
        'seconds, the rest follows later. Disabling a rule unmutes all its groups.',
      access: manage,
      input: { params, body: changeBody },
      output: one,
      errors: ['conflict', 'invalid_pattern', 'reason_required', 'unknown_project'],
      handle: async ({ principal, params: { id = '' }, body }) => ({
        rule: await registry.change(principal, id, body as IgnoreRuleFields),
      }),
    },
    {
      method: 'DELETE',
      path: `${BASE}/{id}`,
      operationId: 'deleteIgnoreRule',
      summary: 'Delete an ignore rule and unmute its groups',
      access: manage,
      input: { params },
      output: deleted,
      handle: async ({ principal, params: { id = '' } }) => {
        await registry.remove(principal, id);
        return { deleted: true };
      },
    },
    {
      method: 'POST',
      path: `${BASE}/{id}/apply`,
      operationId: 'applyIgnoreRule',
      errors: ['conflict'],
      summary: 'Mute the matching groups that exist already; answers when done',
      description: 'Safe to repeat: groups that are muted already are skipped. With `dry_run` nothing is muted.',
      access: manage,
      limits: { rate: 'bulk' },
      input: { params, body: joi.object({ dry_run: joi.boolean().default(false) }), optionalBody: true },
      output: named(
        'IgnoreRuleApplied',
        whole({
          matched: count.description('Groups that match'),
          muted: count.description('Groups that this call muted'),
          skipped: count.description('Groups that match and were muted already'),
        }),
      ),
      handle: async ({ principal, params: { id = '' }, body, signal }) => {
        const { dry_run } = (body ?? {}) as { dry_run?: boolean };
        return { ...(await registry.apply(principal, id, { dry_run: dry_run === true, signal })) };
      },
    },
  ];
}
