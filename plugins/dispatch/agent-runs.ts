/** Progress of an item's last agent request, for its page. */
import { collection, inject, injectable, PORT } from '../../kernel/contract/index.js';
import { TOKENS, type TokenIssuer } from '../../ports/domain/tokens.js';
import type { Clock } from '../../ports/clock.js';
import { DAY_MS, toIsoString } from '../../lib/time.js';
import type { Collection, Doc } from '../../ports/store/index.js';

export interface AgentRun extends Doc {
  project: string;
  agent: string;
  requested_at: string;
  /** Token of the latest attempt; missing until a receiver got one. */
  token_id?: string;
  token_expires_at?: string;
  tokens_used?: number;
  note?: string;
  told_at?: string;
  changed_at: string;
}

export interface RunView {
  agent: string;
  requested_at: string;
  sent: boolean;
  token_expires_at: string | null;
  last_call_at: string | null;
  tokens_used: number | null;
  note: string | null;
  told_at: string | null;
}

const RETENTION_MS = 90 * DAY_MS;

@injectable()
export class AgentRunService {
  constructor(
    @inject(collection<AgentRun>('runs')) private readonly rows: Collection<AgentRun>,
    @inject(TOKENS) private readonly tokens: TokenIssuer,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  async recordRequest(item: string, project: string, agent: string): Promise<void> {
    const now = this.clock.iso();
    const set = { project, agent, requested_at: now, changed_at: now };
    const unset = ['token_id', 'token_expires_at', 'tokens_used', 'note', 'told_at'];
    await this.rows.change({ id: item }, { set, unset }, { upsert: true });
  }

  /** @param requested_at of the event, for a run that was not stored because of a crash */
  async recordTokenSent(
    run: Pick<AgentRun, 'id' | 'project' | 'agent' | 'requested_at'>,
    token: SentToken,
  ): Promise<void> {
    const { id, ...rest } = run;
    const known = await this.rows.get(id);
    const base = known === null ? rest : {};
    const set = { ...base, ...token, changed_at: this.clock.iso() };
    await this.rows.change({ id }, { set }, { upsert: true });
  }

  async recordProgress(item: string, project: string, progress: AgentProgress, agent: string): Promise<void> {
    const now = this.clock.iso();
    const known = await this.rows.get(item);
    const base = known === null ? { project, agent, requested_at: now } : {};
    await this.rows.change(
      { id: item },
      { set: { ...base, ...progress, told_at: now, changed_at: now } },
      { upsert: true },
    );
  }

  async find(item: string): Promise<RunView | null> {
    const run = await this.rows.get(item);
    if (run === null) return null;
    const token = run.token_id === undefined ? null : await this.tokens.find(run.token_id);
    return {
      agent: run.agent,
      requested_at: run.requested_at,
      sent: run.token_id !== undefined,
      token_expires_at: run.token_expires_at ?? null,
      last_call_at: token?.last_used_at ?? null,
      tokens_used: run.tokens_used ?? null,
      note: run.note ?? null,
      told_at: run.told_at ?? null,
    };
  }

  /** Lists the agents of the latest requests. */
  async listAgents(project: string, limit: number): Promise<string[]> {
    const query = { filter: { project }, sort: [['changed_at', 'desc']] as const, limit };
    return (await this.rows.find(query)).items.map(({ agent }) => agent);
  }

  async deleteExpired(): Promise<void> {
    await this.rows.remove({ changed_at: { lt: toIsoString(this.clock.now() - RETENTION_MS) } });
  }
}

type SentToken = { token_id: string; token_expires_at: string };
export type AgentProgress = { tokens_used?: number; note?: string };
