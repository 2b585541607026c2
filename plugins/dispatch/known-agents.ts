import { inject, injectable } from '../../kernel/contract/index.js';
import { AGENT_WORK, type AgentWork } from '../../ports/domain/agent-requests.js';
import { AgentRunService } from './agent-runs.js';
import { RequestRuleService } from './request-rules.js';

const MAX_AGENTS = 50;

/** Agents to choose from. */
@injectable()
export class KnownAgentService {
  constructor(
    @inject(AGENT_WORK) private readonly work: AgentWork,
    @inject(AgentRunService) private readonly runs: AgentRunService,
    @inject(RequestRuleService) private readonly rules: RequestRuleService,
  ) {}

  /** Lists names that work or were requested in the project, or that its rules request. */
  async list(project: string): Promise<string[]> {
    const [working, requested, rules] = await Promise.all([
      this.work.listWorking(project, MAX_AGENTS),
      this.runs.listAgents(project, MAX_AGENTS),
      this.rules.getCachedRules(),
    ]);
    const ruled = rules.filter((rule) => rule.project === null || rule.project === project);
    const names = [
      ...working.flatMap(({ claim }) => claim?.agent ?? []),
      ...requested,
      ...ruled.map(({ agent }) => agent),
    ];
    return [...new Set(names)].toSorted().slice(0, MAX_AGENTS);
  }
}
