/**
 * Handles uncaught errors (contract 90, amendments) by aborting the run's signal, so that the run
 * unwinds as if it had been canceled.
 */
import { AgentFailure } from './exit.js';
import type { Hooks } from './hooks.js';

type RunContext = { signal: AbortSignal; hooks: Hooks };

export const toCrash = (error: unknown): AgentFailure =>
  new AgentFailure('error', `unexpected error: ${error instanceof Error ? error.message.trim() : String(error)}`);

export const hasCrashed = ({ signal }: Pick<RunContext, 'signal'>): boolean => signal.reason instanceof AgentFailure;

/**
 * After a crash it rejects once `work` has not ended within `hooks.unwindMs`, because work that
 * depends on the broken part may never end.
 */
export function rejectAfterCrash(work: Promise<void>, { signal, hooks }: RunContext): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const crashed = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => {
      if (hasCrashed({ signal })) timer = setTimeout(() => reject(signal.reason as AgentFailure), hooks.unwindMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  return Promise.race([work, crashed]).finally(() => clearTimeout(timer));
}
