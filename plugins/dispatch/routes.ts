import joi from 'joi';
import { created, deleted, named, whole, type RouteSpec } from '../../kernel/contract.js';
import { getCallerName } from './caller.js';
import type { Requests } from './requests.js';
import { agentName, changeBody, createBody, ruleShape, type RuleFields } from './rule.js';
import type { RequestRules } from './rules.js';
import type { AgentProgress } from './agent-runs.js';

const ITEM = '/api/bugtracker/v1/bugs/{id}';
const RULES = '/api/bugtracker/v1/request-rules';
const MANAGE = { scope: 'bugtracker:manage' } as const;
const READ = { scope: 'bugtracker:read' } as const;

const params = joi.object({ id: joi.string().max(100).required() });
const at = joi.string().isoDate().allow(null);

const runShape = named(
  'AgentRun',
  whole({
    agent: joi.string(),
    requested_at: joi.string().isoDate(),
    sent: joi.boolean().description('A webhook was sent a token'),
    token_expires_at: at,
    last_call_at: at.description('With that token, to the minute'),
    tokens_used: joi.number().integer().allow(null).description('In all, as the agent says'),
    note: joi.string().allow(null).description('What it says it does: text from outside'),
    told_at: at,
  }),
);
const runAnswer = named('AgentRunAnswer', whole({ request: runShape.allow(null) }));
const ruleAnswer = named('RequestRuleAnswer', whole({ rule: ruleShape }));

export const buildDispatchRoutes = (requests: Requests, rules: RequestRules): RouteSpec[] => [
  ...itemRoutes(requests),
  ...ruleRoutes(rules),
];

const itemRoutes = (requests: Requests): RouteSpec[] => [
  {
    method: 'POST',
    path: `${ITEM}/request`,
    operationId: 'requestAgent',
    tag: 'bugtracker',
    summary: 'Ask for the item’s agent',
    description:
      'Sends `agent.requested` to the webhooks that name this event, with the address of `/mcp` and a token for the project and the ' +
      'agent. Without `agent` it is the item’s `target_agent`. 409 `already_claimed` while an agent holds the item, `on_hold` while a ' +
      'person has stopped the work, `no_agent` where no webhook would get the request, `invalid_transition` once it is decided.',
    access: MANAGE,
    input: {
      params,
      body: named('AgentRequest', joi.object({ agent: agentName.allow(null) })),
      optionalBody: true,
    },
    output: runAnswer,
    errors: ['not_found', 'already_claimed', 'on_hold', 'no_agent', 'invalid_transition'],
    handle: async ({ principal, params: { id = '' }, body }) => {
      const { agent } = (body ?? {}) as { agent?: string | null };
      const { request } = await requests.ask(principal, id, agent);
      return { request };
    },
  },
  {
    method: 'GET',
    path: `${ITEM}/request`,
    operationId: 'getAgentRequest',
    tag: 'bugtracker',
    summary: 'What became of the last request for an agent',
    access: READ,
    input: { params },
    output: runAnswer,
    errors: ['not_found'],
    handle: async ({ principal, params: { id = '' } }) => ({ request: await requests.run(principal, id) }),
  },
  {
    method: 'POST',
    path: `${ITEM}/progress`,
    operationId: 'tellProgress',
    tag: 'bugtracker',
    summary: 'Say how far the agent is, for the item’s page',
    access: MANAGE,
    input: {
      params,
      body: named(
        'AgentProgress',
        joi
          .object({
            tokens_used: joi.number().integer().min(0).max(1e12).description('Tokens of a language model, in all'),
            note: joi.string().trim().min(1).max(500).description('One sentence'),
          })
          .or('tokens_used', 'note'),
      ),
    },
    output: runAnswer,
    errors: ['not_found'],
    handle: async ({ principal, params: { id = '' }, body }) => ({
      request: await requests.told(principal, id, body as AgentProgress),
    }),
  },
];

const ruleRoutes = (rules: RequestRules): RouteSpec[] => [
  {
    method: 'GET',
    path: RULES,
    operationId: 'listRequestRules',
    tag: 'bugtracker',
    summary: 'List the rules that ask for agents, the oldest first',
    access: READ,
    output: named('RequestRules', whole({ items: joi.array().items(ruleShape) })),
    handle: async ({ principal }) => ({ items: await rules.list(principal) }),
  },
  {
    method: 'POST',
    path: RULES,
    operationId: 'createRequestRule',
    tag: 'bugtracker',
    summary: 'Make a rule that asks for an agent',
    description: 'Asked of every item that is new, comes back, or becomes critical; once in each cycle of the item.',
    access: MANAGE,
    input: { body: createBody },
    status: 201,
    output: ruleAnswer,
    errors: ['unknown_project', 'conflict'],
    handle: async ({ principal, body }) =>
      created({
        rule: await rules.create(principal, getCallerName(principal), body as RuleFields & { agent: string }),
      }),
  },
  {
    method: 'PATCH',
    path: `${RULES}/{id}`,
    operationId: 'changeRequestRule',
    tag: 'bugtracker',
    summary: 'Change a rule that asks for an agent',
    access: MANAGE,
    input: { params, body: changeBody },
    output: ruleAnswer,
    errors: ['not_found', 'unknown_project'],
    handle: async ({ principal, params: { id = '' }, body }) => ({
      rule: await rules.change(principal, id, body as RuleFields),
    }),
  },
  {
    method: 'DELETE',
    path: `${RULES}/{id}`,
    operationId: 'deleteRequestRule',
    tag: 'bugtracker',
    summary: 'Delete a rule that asks for an agent',
    access: MANAGE,
    input: { params },
    output: deleted,
    errors: ['not_found'],
    handle: async ({ principal, params: { id = '' } }) => {
      await rules.remove(principal, id);
      return { deleted: true };
    },
  },
];
