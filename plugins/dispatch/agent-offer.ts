import type { Item } from '../../ports/domain/bugs.js';
import type { AgentAssigner, AgentOffer } from '../../ports/domain/item-facts.js';
import type { AgentDispatchService } from './agent-requests.js';
import type { AgentRunService } from './agent-runs.js';
import type { KnownAgentService } from './known-agents.js';

const REQUESTABLE_STATUSES: ReadonlySet<Item['status']> = new Set(['open', 'needs_info']);
const MAX_OFFERED_AGENTS = 8;
/** Where a webhook for the event is created. */
export const CONNECT_HREF = '/webhooks/new';

interface OfferServices {
  requests: Pick<AgentDispatchService, 'isListening'>;
  agentNames: Pick<KnownAgentService, 'list'>;
  runs: Pick<AgentRunService, 'find'>;
}

/** What an item's page offers about agents; the one that the item is reserved for comes first. */
export const createAgentAssigner = ({ requests, agentNames, runs }: OfferServices): AgentAssigner => ({
  getOffer: async ({ id, ref, status, project, target_agent }): Promise<AgentOffer | null> => {
    if (!REQUESTABLE_STATUSES.has(status)) return null;
    const [known, isListening, run] = await Promise.all([
      agentNames.list(project),
      requests.isListening(project),
      runs.find(id),
    ]);
    const names = target_agent === null ? known : [target_agent, ...known];
    return {
      agents: [...new Set(names)].slice(0, MAX_OFFERED_AGENTS),
      isListening,
      path: `/bugs/${encodeURIComponent(ref)}/request`,
      setupPath: CONNECT_HREF,
      current: run && {
        agent: run.agent,
        requested_at: run.requested_at,
        state: run.sent ? 'delivered' : 'pending',
      },
    };
  },
});
