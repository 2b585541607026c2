/**
 * Dispatch (contract 70: `agent.requested`): a user, a program or a rule requests an item's agent,
 * and a webhook starts it. No other module depends on it.
 */
import { definePlugin, extend, listen } from '../../kernel/contract.js';
import { AGENT_SETTINGS } from '../../ports/domain/agent-requests.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { BUG_CREATED, BUG_CRITICAL, FEATURE_CREATED, ITEM_ACTIONS, ITEMS } from '../../ports/domain/bugs.js';
import { ITEM_FACTS } from '../../ports/domain/item-facts.js';
import { LIVE_TOPICS } from '../../ports/domain/live.js';
import { PROJECT_BELONGINGS, PROJECTS } from '../../ports/domain/projects.js';
import { TOKEN_PURPOSES, TOKENS } from '../../ports/domain/tokens.js';
import { ATTEMPT_DATA, WEBHOOK_RECEIVERS } from '../../ports/domain/webhooks.js';
import { ERRORS } from './errors.js';
import { action, facts, buildDispatchPages, topic } from './pages.js';
import { Requests } from './requests.js';
import { buildDispatchRoutes } from './routes.js';
import { RequestRules } from './rules.js';
import { AgentRuns } from './agent-runs.js';
import { AgentTokens, RECEIVERS } from './agent-tokens.js';

export default definePlugin({
  id: 'dispatch',
  version: '1.0.0',
  api: 1,
  title: 'Asking for agents',
  needs: [ITEMS, AGENT_SETTINGS, PROJECTS, TOKENS, AUDIT].map(({ name }) => name),
  uses: [WEBHOOK_RECEIVERS.name],
  extends: [
    ITEM_ACTIONS.point,
    ITEM_FACTS.point,
    ATTEMPT_DATA.point,
    LIVE_TOPICS.point,
    PROJECT_BELONGINGS.point,
    TOKEN_PURPOSES.point,
  ],
  errors: ERRORS,
  collections: [
    { name: 'rules', indexes: [{ fields: ['project'] }] },
    { name: 'runs', indexes: [{ fields: ['changed_at'] }] },
  ],
  from: import.meta.url,
  setup(ctx) {
    ctx.bind(RECEIVERS, () => ctx.find(WEBHOOK_RECEIVERS));
    const { requests, rules, runs, tokens } = ctx.services({
      requests: Requests,
      rules: RequestRules,
      runs: AgentRuns,
      tokens: AgentTokens,
    });
    return {
      routes: buildDispatchRoutes(requests, rules),
      pages: buildDispatchPages(requests, rules, ctx.resolve(PROJECTS)),
      extensions: [
        extend(ITEM_ACTIONS, action),
        extend(ITEM_FACTS, facts(runs)),
        extend(ATTEMPT_DATA, requests),
        extend(LIVE_TOPICS, topic(runs)),
        extend(PROJECT_BELONGINGS, rules),
        extend(TOKEN_PURPOSES, tokens),
      ],
      listens: [BUG_CREATED, BUG_CRITICAL, FEATURE_CREATED].map((event) =>
        listen(event, (told) => requests.byRules(told), { durable: true }),
      ),
      jobs: [
        { name: 'forget', everyMs: 24 * 3_600_000, timeoutMs: 600_000, removesByAge: true, run: () => runs.forget() },
      ],
    };
  },
});
