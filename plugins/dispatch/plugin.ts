/**
 * Dispatch (contract 70: `agent.requested`): a user, a program or a rule requests an item's agent,
 * and a webhook starts it.
 */
import { definePlugin, extend, listen } from '../../kernel/contract/index.js';
import { AGENT_SETTINGS, AGENT_WORK } from '../../ports/domain/agent-requests.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { BUG_CREATED, BUG_CRITICAL, FEATURE_CREATED, ITEMS } from '../../ports/domain/bugs.js';
import { CONFIG_KINDS } from '../../ports/domain/config/kinds.js';
import { AGENT_ASSIGNERS, ITEM_FACTS } from '../../ports/domain/item-facts.js';
import { LIVE_TOPICS } from '../../ports/domain/live-topics.js';
import { PROJECT_CLEANUPS, PROJECTS } from '../../ports/domain/projects.js';
import { TOKEN_PURPOSES, TOKENS } from '../../ports/domain/tokens.js';
import { ATTEMPT_DATA, WEBHOOK_RECEIVERS } from '../../ports/domain/webhooks.js';
import { ERRORS } from './errors.js';
import { buildRunFacts, buildDispatchPages, buildRunTopic } from './pages.js';
import { createAgentAssigner } from './agent-offer.js';
import { buildAgentPages } from './agent-pages.js';
import { AgentDispatchService } from './agent-requests.js';
import { createAgentRuleKind } from './rule-config-kind.js';
import { buildDispatchRoutes } from './routes.js';
import { RequestRuleService } from './request-rules.js';
import { AgentRunService } from './agent-runs.js';
import { KnownAgentService } from './known-agents.js';
import { AgentTokenPolicy, WEBHOOK_RECEIVERS_RESOLVER } from './agent-tokens.js';

export default definePlugin({
  id: 'dispatch',
  version: '1.0.0',
  api: 1,
  title: 'Agent automation',
  needs: [ITEMS, AGENT_SETTINGS, AGENT_WORK, PROJECTS, TOKENS, AUDIT].map(({ name }) => name),
  uses: [WEBHOOK_RECEIVERS.name],
  extends: [
    AGENT_ASSIGNERS.point,
    ITEM_FACTS.point,
    ATTEMPT_DATA.point,
    CONFIG_KINDS.point,
    LIVE_TOPICS.point,
    PROJECT_CLEANUPS.point,
    TOKEN_PURPOSES.point,
  ],
  errors: ERRORS,
  collections: [
    { name: 'rules', indexes: [{ fields: ['project'] }] },
    { name: 'runs', indexes: [{ fields: ['changed_at'] }, { fields: ['project', 'changed_at'] }] },
  ],
  from: import.meta.url,
  setup(ctx) {
    ctx.bind(WEBHOOK_RECEIVERS_RESOLVER, () => ctx.find(WEBHOOK_RECEIVERS));
    const { requests, rules, runs, agentNames, tokens } = ctx.services({
      requests: AgentDispatchService,
      rules: RequestRuleService,
      runs: AgentRunService,
      agentNames: KnownAgentService,
      tokens: AgentTokenPolicy,
    });
    return {
      routes: buildDispatchRoutes(requests, rules),
      pages: [
        ...buildAgentPages({
          work: ctx.resolve(AGENT_WORK),
          projects: ctx.resolve(PROJECTS),
          baseUrl: () => ctx.app.base_url,
        }),
        ...buildDispatchPages(requests, agentNames, rules, ctx.resolve(PROJECTS)),
      ],
      extensions: [
        extend(AGENT_ASSIGNERS, createAgentAssigner({ requests, agentNames, runs })),
        extend(ITEM_FACTS, buildRunFacts(runs)),
        extend(ATTEMPT_DATA, requests),
        extend(CONFIG_KINDS, createAgentRuleKind(rules)),
        extend(LIVE_TOPICS, buildRunTopic(runs)),
        extend(PROJECT_CLEANUPS, rules),
        extend(TOKEN_PURPOSES, tokens),
      ],
      listens: [BUG_CREATED, BUG_CRITICAL, FEATURE_CREATED].map((event) =>
        listen(event, (payload) => requests.requestByRules(payload), { durable: true }),
      ),
      jobs: [
        {
          name: 'forget',
          everyMs: 24 * 3_600_000,
          timeoutMs: 600_000,
          removesByAge: true,
          run: () => runs.deleteExpired(),
        },
      ],
    };
  },
});
