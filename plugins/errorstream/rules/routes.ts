/** `/api/errors/v1/ignore-rules` (contract 21, ignore rules). */
import joi from 'joi';
import { created, deleted, named, pageOf, whole, type RouteSpec } from '../../../kernel/contract.js';
import type { Registry, RuleQuery } from './registry.js';
import { changeBody, createBody, MATCH_TYPES, ruleShape, type Matching, type RuleFields } from './rule.js';

const BASE = '/api/errors/v1/ignore-rules';
const read = { scope: 'bugtracker:read' } as const;
const manage = { scope: 'bugtracker:manage' } as const;

const params = joi.object({ id: joi.string().max(64).required() });
const one = named('IgnoreRuleAnswer', whole({ rule: ruleShape }));
const count = joi.number().integer().min(0);
type Given = RuleFields & Pick<Matching, 'match_type' | 'pattern'>;

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

export function ruleRoutes(registry: Registry): RouteSpec[] {
  return [...collectionRoutes(registry), ...memberRoutes(registry)];
}

function collectionRoutes(registry: Registry): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: BASE,
      operationId: 'listIgnoreRules',
      summary: 'List the ignore rules, in the order in which they win',
      description:
        'The oldest first: of several rules that match the first one mutes. A token that is bound to a project sees that ' +
        'project’s rules and those of all projects.',
      access: read,
      strictQuery: true,
      input: {
        query: joi.object({
          limit: joi.number().integer().min(1).max(200).default(50),
          cursor: joi.string().max(4096),
          include_total: joi.boolean().default(false),
          project: joi.string().max(64).description('Rules of this project alone'),
          enabled: joi.boolean(),
          match_type: joi.string().valid(...MATCH_TYPES),
        }),
      },
      output: pageOf('IgnoreRulePage', ruleShape),
      handle: async ({ principal, query }) => {
        const page = await registry.page(principal, query as unknown as RuleQuery);
        const shown = { items: page.items, next_cursor: page.next, has_more: page.next !== null };
        return query['include_total'] === true ? { ...shown, total: await page.count() } : shown;
      },
    },
    {
      method: 'POST',
      path: BASE,
      operationId: 'createIgnoreRule',
      summary: 'Create an ignore rule',
      description:
        'What matches from now on is recorded and counted, muted. In force here at once and in every other process within ' +
        'two seconds. Groups that exist already are muted by `apply`.',
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
          samples: joi.array().items(sample).max(20).description('Those seen last'),
          complete: joi.boolean().description('False: not every group could be looked at in time'),
        }),
      ),
      handle: async ({ principal, body }) => registry.preview(principal, body as Given),
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
        'Groups that it muted and no longer matches are unmuted before this is answered; where that takes over five ' +
        'seconds, the rest follows. Disabling unmutes all of them.',
      access: manage,
      input: { params, body: changeBody },
      output: one,
      errors: ['conflict', 'invalid_pattern', 'reason_required', 'unknown_project'],
      handle: async ({ principal, params: { id = '' }, body }) => ({
        rule: await registry.change(principal, id, body as RuleFields),
      }),
    },
    {
      method: 'DELETE',
      path: `${BASE}/{id}`,
      operationId: 'deleteIgnoreRule',
      summary: 'Delete an ignore rule and unmute what it muted',
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
      summary: 'Mute the groups that exist already; answers when done',
      description: 'Safe to repeat: what is muted already is skipped. With `dry_run` nothing is muted.',
      access: manage,
      limits: { rate: 'bulk' },
      input: { params, body: joi.object({ dry_run: joi.boolean().default(false) }), optionalBody: true },
      output: named(
        'IgnoreRuleApplied',
        whole({
          matched: count.description('Groups that match'),
          muted: count.description('Groups that were muted now'),
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
