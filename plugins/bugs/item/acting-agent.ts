import type { BugCaller } from '../caller.js';
import type { ItemDoc } from './model.js';

type AgentHolder = Pick<ItemDoc, 'claim' | 'last_holder' | 'resolved_by' | 'resolved_as'>;

/**
 * Finds the agent behind a token: the token's own, the one that holds the item with it, or the last
 * one that did.
 */
export function findActingAgent(item: AgentHolder, actor: string | BugCaller): string | undefined {
  if (typeof actor === 'string' || actor.kind !== 'token') return undefined;
  const { id, agent } = actor;
  if (agent !== undefined) return agent;
  if (item.claim?.credential === id) return item.claim.agent;
  if (item.last_holder?.credential === id) return item.last_holder.agent;
  return item.resolved_by === id ? item.resolved_as : undefined;
}
