/** An item asks for an agent (contract 70, payload and signature: `agent.requested`). */
import { event, token } from '../token.js';
import type { BugEvent } from './item-events.js';

/**
 * Data of `agent.requested` as it is stored. What a receiver gets besides, `mcp_url` and `token`, is made for each
 * attempt.
 */
export interface AgentRequested extends BugEvent {
  /** The name under which the agent is to claim. */
  agent: string;
}

export const AGENT_REQUESTED = event<AgentRequested>('agent.requested');

/** The scopes of the token that a receiver is sent: what an agent needs for one project's items, and no more. */
export const AGENT_TOKEN_SCOPES: readonly string[] = ['bugtracker:report', 'bugtracker:read', 'bugtracker:manage'];

export interface AgentSettings {
  /** How long the token of one request lives (`bugs.agent_token_seconds`). */
  token_seconds: number;
}

export const AGENT_SETTINGS = token<AgentSettings>('bugs.agent_settings');

/** A request for an agent, by a person, a program or a rule. */
export interface AgentRequest {
  /** Names it among those of the plugin on the item, at most 200 characters: the same key again asks nobody. */
  key: string;
  /** At most 100 characters. */
  agent: string;
  /** For whom the plugin speaks, at most 100 characters. */
  actor: string | null;
  /** The rule that asks; null: somebody did. */
  rule: string | null;
  /** Called once the item itself allows the request; what it throws refuses it. */
  check?: () => Promise<void>;
}
