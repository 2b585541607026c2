import { event, token } from '../token.js';
import type { Item } from './item.js';
import type { BugEvent } from './item-events.js';

/** Stored data of `agent.requested`. Each delivery attempt adds `mcp_url` and `token`. */
export interface AgentRequested extends BugEvent {
  agent: string;
}

export const AGENT_REQUESTED = event<AgentRequested>('agent.requested');

/** The minimum to work on one project's items. */
export const AGENT_TOKEN_SCOPES: readonly string[] = ['bugtracker:report', 'bugtracker:read', 'bugtracker:manage'];

export interface AgentSettings {
  /** Lifetime of a request's token (`bugs.agent_token_seconds`). */
  token_seconds: number;
}

export const AGENT_SETTINGS = token<AgentSettings>('bugs.agent_settings');

/** A request for an agent. */
export interface AgentRequest {
  /** Idempotency key per item, at most 200 characters. */
  key: string;
  /** At most 100 characters. */
  agent: string;
  /** At most 100 characters. */
  actor: string | null;
  rule: string | null;
  /** Final check after the item's own; throwing rejects the request. */
  check?: () => Promise<void>;
}

/** Items as agents see them (contract 20, leases). Callers check permissions. */
export interface AgentWork {
  /**
   * Lists items with a live lease, the longest held first.
   * @param project null: all
   */
  listWorking(project: string | null, limit: number): Promise<Item[]>;
  /** Lists items in the order in which an agent without a name gets them. */
  listQueue(project: string | null, limit: number): Promise<{ items: Item[]; total: number }>;
  countWorking(project: string | null): Promise<number>;
}

export const AGENT_WORK = token<AgentWork>('bugs.agent_work');
