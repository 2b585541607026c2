import { EXIT_CODES, AgentFailure, type AgentOutcome } from '../exit.js';
import type { CheckedOptions } from '../options/index.js';
import { AlreadyExistsFailure } from '../net/session.js';
import type { ServiceVerb } from '../update/service.js';

export const CHILD_MARKER = 'UPDATE_AGENT_CHILD';

export interface ChildInstructions {
  options: Omit<CheckedOptions, 'server' | 'password'> & { server: string | null };
  /** `SVC_SET_…`: values for files of the owner. */
  settings: Readonly<Record<string, string>>;
}

/** The parent validates each one, because the owner controls the child. */
export type OwnerRequest =
  | { call: 'control'; verb: ServiceVerb }
  | { call: 'ask'; url: string; most: number }
  | { call: 'open'; url: string; headers: Readonly<Record<string, string>> }
  | { call: 'read'; handle: number }
  | { call: 'drop'; handle: number }
  | { call: 'login' }
  | { call: 'get'; route: string; query: Record<string, string>; most: number }
  | { call: 'post'; route: string; content: object; most: number };

export interface OwnerRequestMessage {
  id: number;
  wish: OwnerRequest;
}

export interface OwnerRejection {
  outcome: Exclude<AgentOutcome, 'done'>;
  message: string;
  taken: boolean;
}

export type OwnerReply = { id: number; value: unknown } | { id: number; refusal: OwnerRejection };

export const toRejection = (failure: AgentFailure): OwnerRejection => ({
  outcome: failure.outcome,
  message: failure.message,
  taken: failure instanceof AlreadyExistsFailure,
});

export function toFailure({ outcome, message, taken: isDuplicate }: OwnerRejection): AgentFailure {
  return isDuplicate
    ? new AlreadyExistsFailure(message)
    : new AgentFailure(Object.hasOwn(EXIT_CODES, outcome) ? outcome : 'error', message);
}
