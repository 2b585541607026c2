/**
 * Lifetime of a request's token (contract 10, amendments): until its webhook, project or item is
 * deleted, the webhook no longer receives the event, or the item is decided or was reopened.
 */
import { inject, injectable, token } from '../../kernel/contract/index.js';
import { AGENT_REQUESTED } from '../../ports/domain/agent-requests.js';
import { ITEMS, type TrackedItems } from '../../ports/domain/bugs.js';
import { PROJECTS, type ProjectDirectory } from '../../ports/domain/projects.js';
import type { PurposeState, TokenPurpose, TokenPurposeResolver } from '../../ports/domain/tokens.js';
import type { WebhookReceivers } from '../../ports/domain/webhooks.js';

/** Undefined while the webhooks plugin is disabled: then no token is valid. */
export const WEBHOOK_RECEIVERS_RESOLVER = token<() => WebhookReceivers | undefined>('dispatch.receivers');

const PURPOSE_KIND = AGENT_REQUESTED.event;
/**
 * A resolved item may still be corrected by its agent, until it is closed (contract 20,
 * transitions).
 */
const DECIDED_STATUSES: ReadonlySet<string> = new Set(['closed', 'wont_fix', 'duplicate']);

interface RequestPurpose extends TokenPurpose {
  webhook: string;
  item: string;
  project: string;
  /**
   * `regression_count` of the item: it rises when a decided item is reopened, which requires a new
   * request.
   */
  cycle: number;
}

@injectable()
export class AgentTokenPolicy implements TokenPurposeResolver {
  readonly kind = PURPOSE_KIND;

  constructor(
    @inject(ITEMS) private readonly items: TrackedItems,
    @inject(PROJECTS) private readonly projects: ProjectDirectory,
    @inject(WEBHOOK_RECEIVERS_RESOLVER) private readonly receivers: () => WebhookReceivers | undefined,
  ) {}

  async buildPurpose(request: Pick<RequestPurpose, 'webhook' | 'item' | 'project'>): Promise<RequestPurpose> {
    const item = await this.items.get(request.item);
    return { ...request, kind: PURPOSE_KIND, cycle: item?.regression_count ?? -1 };
  }

  async hasReceiver(project: string): Promise<boolean> {
    return (await this.receivers()?.hasReceiver(PURPOSE_KIND, project)) === true;
  }

  async getState(purpose: TokenPurpose): Promise<PurposeState> {
    const { webhook, item: id, project: slug, cycle } = purpose as RequestPurpose;
    const receivers = this.receivers();
    if (receivers === undefined) return 'paused';
    if (!(await receivers.isReceiver(webhook, PURPOSE_KIND, slug))) return 'ended';
    const [project, item] = await Promise.all([this.projects.get(slug), this.items.get(id)]);
    if (project === null || item === null || DECIDED_STATUSES.has(item.status) || item.regression_count !== cycle)
      return 'ended';
    return project.archived ? 'paused' : 'active';
  }
}
