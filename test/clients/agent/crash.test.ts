/** What waits for a part that broke with an uncaught error (contract 90, amendments). */
import { expect } from 'chai';
import { hasCrashed, rejectAfterCrash, toCrash } from '../../../clients/agent/crash.js';
import { AgentFailure } from '../../../clients/agent/exit.js';
import { DEFAULT_HOOKS } from '../../../clients/agent/hooks.js';

describe('update-agent: after an uncaught error', () => {
  const hooks = { ...DEFAULT_HOOKS, unwindMs: 5 };
  const never = new Promise<void>(() => {});

  it('rejects with the crash error when the work never ends', async () => {
    for (const before of [true, false]) {
      const cancel = new AbortController();
      const crash = (): void => cancel.abort(toCrash(new Error('of a library')));
      if (before) crash();
      const waiting = rejectAfterCrash(never, { signal: cancel.signal, hooks }).catch((error: unknown) => error);
      if (!before) crash();
      expect(await waiting)
        .to.be.instanceOf(AgentFailure)
        .and.include({ outcome: 'error', message: 'unexpected error: of a library' });
    }
  });

  it('returns the result of work that ends normally', async () => {
    const cancel = new AbortController();
    cancel.abort(toCrash('x'));
    await rejectAfterCrash(Promise.resolve(), { signal: cancel.signal, hooks });
  });

  it('distinguishes a crash from a canceled run', () => {
    const cancel = new AbortController();
    cancel.abort();
    expect(hasCrashed({ signal: cancel.signal })).to.equal(false);
  });
});
