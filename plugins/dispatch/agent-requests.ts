import { inject, injectable, PORT, type AppSettings, type Principal } from '../../kernel/contract/index.js';
import { notFound, ServiceError } from '../../kernel/errors.js';
import {
  AGENT_REQUESTED,
  AGENT_TOKEN_SCOPES,
  AGENT_SETTINGS,
  type AgentRequested,
  type AgentSettings,
} from '../../ports/domain/agent-requests.js';
import { ITEMS, type BugEvent, type Item, type TrackedItems } from '../../ports/domain/bugs.js';
import type { AttemptDataProvider } from '../../ports/domain/webhooks.js';
import { TOKENS, type TokenIssuer } from '../../ports/domain/tokens.js';
import type { DomainEvent } from '../../ports/events.js';
import type { Ids } from '../../ports/ids.js';
import { getCallerName, getBoundProject } from './caller.js';
import { refusal } from './errors.js';
import { matchesRequestRule, formatRuleName } from './request-rule.js';
import { RequestRuleService } from './request-rules.js';
import { AgentTokenPolicy } from './agent-tokens.js';
import { AgentRunService, type RunView, type AgentProgress } from './agent-runs.js';

const DEFAULT_AGENT = 'agent';
/** An agent already works on the item, or it is decided, on hold or gone. */
const EXPECTED_ERROR_CODES: ReadonlySet<string> = new Set([
  'already_claimed',
  'invalid_transition',
  'not_found',
  'on_hold',
]);

@injectable()
export class AgentDispatchService implements AttemptDataProvider {
  readonly event = AGENT_REQUESTED.event;
  readonly scopes = AGENT_TOKEN_SCOPES;

  constructor(
    @inject(ITEMS) private readonly items: TrackedItems,
    @inject(TOKENS) private readonly tokens: TokenIssuer,
    @inject(AGENT_SETTINGS) private readonly settings: AgentSettings,
    @inject(RequestRuleService) private readonly rules: RequestRuleService,
    @inject(AgentRunService) private readonly runs: AgentRunService,
    @inject(AgentTokenPolicy) private readonly purposes: AgentTokenPolicy,
    @inject(PORT.ids) private readonly ids: Ids,
    @inject(PORT.app) private readonly app: Pick<AppSettings, 'base_url'>,
  ) {}

  async getItem(principal: Principal, name: string): Promise<Item> {
    const item = await this.items.get(name);
    const own = getBoundProject(principal);
    if (item === null || (own !== null && own !== item.project)) throw notFound('issue with this id');
    return item;
  }

  /**
   * @throws ServiceError not_found, already_claimed, on_hold, no_agent, invalid_transition,
   *   validation_failed
   */
  async requestAgent(
    principal: Principal,
    name: string,
    agent?: string | null,
  ): Promise<{ item: Item; request: RunView | null }> {
    const item = await this.getItem(principal, name);
    const requestedAgent = agent || item.target_agent || DEFAULT_AGENT;
    const request = { key: this.ids.uuid(), agent: requestedAgent, actor: getCallerName(principal), rule: null };
    await this.#sendRequest(item, { ...request, check: () => this.#checkReceiver(item.project) });
    return { item: await this.getItem(principal, item.id), request: await this.runs.find(item.id) };
  }

  /** Each rule requests once per cycle of the item; of rules with the same agent only the first. */
  async requestByRules({ data }: DomainEvent<BugEvent>): Promise<void> {
    const rules = await this.rules.getCachedRules();
    const item = rules.some(({ enabled }) => enabled) ? await this.items.get(data.id) : null;
    if (item === null) return;
    const requestedAgents = new Set<string>();
    for (const rule of rules) {
      if (requestedAgents.has(rule.agent) || !matchesRequestRule(rule, item)) continue;
      requestedAgents.add(rule.agent);
      const key = `rule ${rule.id} ${item.regression_count} ${item.reopened_at ?? ''}`;
      try {
        await this.#sendRequest(item, { key, agent: rule.agent, actor: null, rule: formatRuleName(rule) });
      } catch (error) {
        if (!(error instanceof ServiceError) || !EXPECTED_ERROR_CODES.has(error.code)) throw error;
      }
    }
  }

  async #sendRequest(item: Item, request: Parameters<TrackedItems['requestAgent']>[1]): Promise<void> {
    if (await this.items.requestAgent(item.id, request))
      await this.runs.recordRequest(item.id, item.project, request.agent);
  }

  isListening(project: string): Promise<boolean> {
    return this.purposes.hasReceiver(project);
  }

  async #checkReceiver(project: string): Promise<void> {
    if (await this.purposes.hasReceiver(project)) return;
    const settings_url = `${this.#baseUrl}/webhooks/new`;
    throw refusal(
      'no_agent',
      `No enabled webhook sends ${AGENT_REQUESTED.event} for the project ${project}, so no agent would start. Create one: ${settings_url}`,
      { extra: { settings_url } },
    );
  }

  get #baseUrl(): string {
    return this.app.base_url.replace(/\/+$/, '');
  }

  async reportProgress(principal: Principal, name: string, progress: AgentProgress): Promise<RunView | null> {
    const item = await this.getItem(principal, name);
    await this.items.rejectSecrets({ note: progress.note });
    await this.runs.recordProgress(item.id, item.project, progress, item.claim?.agent ?? getCallerName(principal));
    return this.runs.find(item.id);
  }

  async findRun(principal: Principal, name: string): Promise<RunView | null> {
    return this.runs.find((await this.getItem(principal, name)).id);
  }

  /** Each attempt gets its own token, so that a late attempt has a valid one. */
  async buildData(event: DomainEvent, webhook: string): ReturnType<AttemptDataProvider['buildData']> {
    const { id, ref, agent } = event.data as AgentRequested;
    const project = event.project_slug ?? '';
    const issued = await this.tokens.issue({
      kind: 'sub',
      name: `${agent} for ${ref}`.slice(0, 100),
      scopes: AGENT_TOKEN_SCOPES,
      project,
      agent,
      expires_in_seconds: this.settings.token_seconds,
      created_by: 'agent.requested',
      purpose: await this.purposes.buildPurpose({ webhook, item: id, project }),
    });
    const token_expires_at = issued.expires_at ?? '';
    await this.runs.recordTokenSent(
      { id, project, agent, requested_at: event.timestamp },
      { token_id: issued.id, token_expires_at },
    );
    const mcp_url = `${this.#baseUrl}/mcp`;
    return { data: { mcp_url, token: issued.token, token_expires_at }, secrets: [issued.token] };
  }
}
