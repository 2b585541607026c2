/** Requests for coding agents (contract 70, payload and signature: `agent.requested`). */
import { event, token } from '../token.js';
import type { BugEvent } from './item-events.js';

/** Stored data of `agent.requested`. Each delivery attempt adds `mcp_url` and `token`. */
export interface AgentRequested extends BugEvent {
  /** Name under which the agent should claim. */
  agent: string;
}

export const AGENT_REQUESTED = event<AgentRequested>('agent.requested');

/** Scopes of the receiver's token: the minimum to work on one project's items. */
export const AGENT_TOKEN_SCOPES: readonly string[] = ['bugtracker:report', 'bugtracker:read', 'bugtracker:manage'];

export interface AgentSettings {
  /** Lifetime of a request's token (`bugs.agent_token_seconds`). */
  token_seconds: number;
}

export const AGENT_SETTINGS = token<AgentSettings>('bugs.agent_settings');

/** A request for an agent by a user, a program or a rule. */
export interface AgentRequest {
  /**
   * Idempotency key of the plugin for this item, at most 200 characters; repeats request nothing.
   */
  key: string;
  /** At most 100 characters. */
  agent: string;
  /** User the plugin acts for, at most 100 characters. */
  actor: string | null;
  /** Rule that requested the agent; null: a user or program did. */
  rule: string | null;
  /** Final check after the item's own; throwing rejects the request. */
  check?: () => Promise<void>;
}
