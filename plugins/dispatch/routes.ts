import joi from 'joi';
import { created, deleted, withSchemaName, whole, type RouteSpec } from '../../kernel/contract/index.js';
import { getCallerName } from './caller.js';
import type { AgentDispatchService } from './agent-requests.js';
import {
  agentNameSchema,
  ruleChangeSchema,
  ruleCreationSchema,
  ruleSchema,
  type RequestRuleFields,
} from './request-rule.js';
import type { RequestRuleService } from './request-rules.js';
import type { AgentProgress } from './agent-runs.js';

const ITEM_PATH = '/api/bugtracker/v1/bugs/{id}';
const RULES_PATH = '/api/bugtracker/v1/request-rules';
const MANAGE_ACCESS = { scope: 'bugtracker:manage' } as const;
const READ_ACCESS = { scope: 'bugtracker:read' } as const;

const paramsSchema = joi.object({ id: joi.string().max(100).required() });
const timeSchema = joi.string().isoDate().allow(null);

const runSchema = withSchemaName(
  'AgentRun',
  whole({
    agent: joi.string(),
    requested_at: joi.string().isoDate(),
    sent: joi.boolean().description('A token was sent to a webhook'),
    token_expires_at: timeSchema,
    last_call_at: timeSchema.description('With that token, in minutes'),
    tokens_used: joi.number().integer().allow(null).description('Total, as reported by the agent'),
    note: joi.string().allow(null).description('Its reported progress (external text)'),
    told_at: timeSchema,
  }),
);
const runResponseSchema = withSchemaName('AgentRunAnswer', whole({ request: runSchema.allow(null) }));
const ruleResponseSchema = withSchemaName('RequestRuleAnswer', whole({ rule: ruleSchema }));

export const buildDispatchRoutes = (requests: AgentDispatchService, rules: RequestRuleService): RouteSpec[] => [
  ...buildItemRoutes(requests),
  ...buildRuleRoutes(rules),
];

const buildItemRoutes = (requests: AgentDispatchService): RouteSpec[] => [
  {
    method: 'POST',
    path: `${ITEM_PATH}/request`,
    operationId: 'requestAgent',
    tag: 'bugtracker',
    summary: 'Request an agent for an item',
    description:
      'Sends `agent.requested` to the webhooks that subscribe to it, with the address of `/mcp` and a token for the project and the ' +
      'agent. Without `agent` it is the item’s `target_agent`. 409 `already_claimed` while an agent holds the item, `on_hold` while a ' +
      'person has put it on hold, `no_agent` if no webhook would get the request, `invalid_transition` once it is decided.',
    access: MANAGE_ACCESS,
    input: {
      params: paramsSchema,
      body: withSchemaName('AgentRequest', joi.object({ agent: agentNameSchema.allow(null) })),
      optionalBody: true,
    },
    output: runResponseSchema,
    errors: ['not_found', 'already_claimed', 'on_hold', 'no_agent', 'invalid_transition'],
    handle: async ({ principal, params: { id = '' }, body }) => {
      const { agent } = (body ?? {}) as { agent?: string | null };
      const { request } = await requests.requestAgent(principal, id, agent);
      return { request };
    },
  },
  {
    method: 'GET',
    path: `${ITEM_PATH}/request`,
    operationId: 'getAgentRequest',
    tag: 'bugtracker',
    summary: 'Get the status of the last agent request',
    access: READ_ACCESS,
    input: { params: paramsSchema },
    output: runResponseSchema,
    errors: ['not_found'],
    handle: async ({ principal, params: { id = '' } }) => ({ request: await requests.findRun(principal, id) }),
  },
  {
    method: 'POST',
    path: `${ITEM_PATH}/progress`,
    operationId: 'tellProgress',
    tag: 'bugtracker',
    summary: 'Report the progress of the agent, for the item’s page',
    access: MANAGE_ACCESS,
    input: {
      params: paramsSchema,
      body: withSchemaName(
        'AgentProgress',
        joi
          .object({
            tokens_used: joi.number().integer().min(0).max(1e12).description('Total language model tokens'),
            note: joi.string().trim().min(1).max(500).description('One sentence'),
          })
          .or('tokens_used', 'note'),
      ),
    },
    output: runResponseSchema,
    errors: ['not_found'],
    handle: async ({ principal, params: { id = '' }, body }) => ({
      request: await requests.reportProgress(principal, id, body as AgentProgress),
    }),
  },
];

const buildRuleRoutes = (rules: RequestRuleService): RouteSpec[] => [
  {
    method: 'GET',
    path: RULES_PATH,
    operationId: 'listRequestRules',
    tag: 'bugtracker',
    summary: 'List the rules that request agents, oldest first',
    access: READ_ACCESS,
    output: withSchemaName('RequestRules', whole({ items: joi.array().items(ruleSchema) })),
    handle: async ({ principal }) => ({ items: await rules.list(principal) }),
  },
  {
    method: 'POST',
    path: RULES_PATH,
    operationId: 'createRequestRule',
    tag: 'bugtracker',
    summary: 'Create a rule that requests an agent',
    description: 'Applied to every item that is new, recurs, or becomes critical; once in each cycle of the item.',
    access: MANAGE_ACCESS,
    input: { body: ruleCreationSchema },
    status: 201,
    output: ruleResponseSchema,
    errors: ['unknown_project', 'conflict'],
    handle: async ({ principal, body }) =>
      created({
        rule: await rules.create(principal, getCallerName(principal), body as RequestRuleFields & { agent: string }),
      }),
  },
  {
    method: 'PATCH',
    path: `${RULES_PATH}/{id}`,
    operationId: 'changeRequestRule',
    tag: 'bugtracker',
    summary: 'Change a rule that requests an agent',
    access: MANAGE_ACCESS,
    input: { params: paramsSchema, body: ruleChangeSchema },
    output: ruleResponseSchema,
    errors: ['not_found', 'unknown_project'],
    handle: async ({ principal, params: { id = '' }, body }) => ({
      rule: await rules.change(principal, id, body as RequestRuleFields),
    }),
  },
  {
    method: 'DELETE',
    path: `${RULES_PATH}/{id}`,
    operationId: 'deleteRequestRule',
    tag: 'bugtracker',
    summary: 'Delete a rule that requests an agent',
    access: MANAGE_ACCESS,
    input: { params: paramsSchema },
    output: deleted,
    errors: ['not_found'],
    handle: async ({ principal, params: { id = '' } }) => {
      await rules.remove(principal, id);
      return { deleted: true };
    },
  },
];
