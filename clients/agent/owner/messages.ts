import { EXIT, AgentFailure, type AgentOutcome } from '../exit.js';
import type { CheckedOptions } from '../options.js';
import { Taken } from '../net/session.js';
import type { Verb } from '../update/service.js';

export const MARK = 'UPDATE_AGENT_CHILD';

export interface Order {
  options: Omit<CheckedOptions, 'server' | 'password'> & { server: string | null };
  /** `SVC_SET_…`: values for files of the owner. */
  settings: Readonly<Record<string, string>>;
}

/** Requests of the child. The parent validates each one, because the owner controls the child. */
export type Wish =
  | { call: 'control'; verb: Verb }
  | { call: 'ask'; url: string; most: number }
  | { call: 'open'; url: string; headers: Readonly<Record<string, string>> }
  | { call: 'read'; handle: number }
  | { call: 'drop'; handle: number }
  | { call: 'login' }
  | { call: 'get'; route: string; query: Record<string, string>; most: number }
  | { call: 'post'; route: string; content: object; most: number };

export interface OwnerQuestion {
  id: number;
  wish: Wish;
}

export interface OwnerRefusal {
  outcome: Exclude<AgentOutcome, 'done'>;
  message: string;
  taken: boolean;
}

export type OwnerReply = { id: number; value: unknown } | { id: number; refusal: OwnerRefusal };

export const refusalOf = (failure: AgentFailure): OwnerRefusal => ({
  outcome: failure.outcome,
  message: failure.message,
  taken: failure instanceof Taken,
});

export function failureOfRefusal({ outcome, message, taken }: OwnerRefusal): AgentFailure {
  return taken ? new Taken(message) : new AgentFailure(Object.hasOwn(EXIT, outcome) ? outcome : 'error', message);
}
