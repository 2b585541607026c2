/**
 * The evaluator's lease (contract 30, runs): one document in the store, so that runs never overlap, whichever process and
 * trigger they come from. It lasts 45 s and is renewed every 15 s. The fencing number rises with every holder; what a run
 * writes about itself names it, and what it writes into monitors compares `rev`, so a run that was frozen past its lease
 * changes nothing afterwards. A dead owner on the same host is replaced at once.
 *
 * Expiry is a time of day, because a tick lives too short to watch a lease; a time further ahead than a lease and
 * the difference of two clocks can be means that the clock went back, and counts as expired.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { isoOf } from '../../../lib/time.js';
import { StoreConflict } from '../../../ports/store.js';
import { DEPS, type Deps } from '../deps.js';
import type { LeaseDoc } from '../model.js';

export const LEASE_MS = 45_000;
const RENEW_MS = 15_000;
/** How far the clocks of two processes may be apart. */
const SKEW_MS = 30_000;
const ID = 'evaluator';

/** The lease went to somebody else, or could not be renewed in time. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

export interface HeldLease {
  fence: number;
  /** The last holder's clock was ahead by more than clocks may differ: it was set back since then. */
  setBack: boolean;
  /** Aborts when the lease is lost. */
  signal: AbortSignal;
  /** Before writes that only the holder may make. @throws LeaseLost */
  check(): void;
  release(): Promise<void>;
}

@injectable()
export class EvaluatorLease {
  constructor(@inject(DEPS) private readonly deps: Deps) {}

  /** Null: a living owner holds it. */
  async take(): Promise<HeldLease | null> {
    const { leases, ids, clock, processes } = this.deps;
    const holder = ids.uuid();
    const owner = await processes.self();
    const fields = { holder, owner, expires_at: isoOf(clock.now() + LEASE_MS) };
    const current = await leases.get(ID);
    if (current === null) {
      try {
        await leases.insert({ id: ID, ...fields, fence: 1 });
        return this.#hold(holder, 1, false);
      } catch (error) {
        if (error instanceof StoreConflict) return null;
        throw error;
      }
    }
    const ahead = Date.parse(current.expires_at) - clock.now();
    if (!(await this.#free(current, ahead))) return null;
    const set = { holder, owner: { ...owner }, expires_at: fields.expires_at };
    const won = await leases.change(
      { id: ID, fence: current.fence, holder: current.holder },
      { set, inc: { fence: 1 } },
    );
    return won === null ? null : this.#hold(holder, won.doc.fence, ahead > LEASE_MS + SKEW_MS);
  }

  /** @param left of its time, in ms */
  async #free({ holder, owner }: LeaseDoc, left: number): Promise<boolean> {
    if (holder === null) return true;
    if (left <= 0 || left > LEASE_MS + SKEW_MS) return true;
    return owner !== null && (await this.deps.processes.dead(owner));
  }

  #hold(holder: string, fence: number, setBack: boolean): HeldLease {
    const { leases, clock, log } = this.deps;
    const lost = new AbortController();
    let renewed = clock.monotonic();
    const renew = async (): Promise<void> => {
      const began = clock.monotonic();
      const set = { expires_at: isoOf(clock.now() + LEASE_MS) };
      const kept = await leases.change({ id: ID, holder, fence }, { set });
      if (kept === null) lost.abort();
      else renewed = began;
    };
    const timer = setInterval(() => {
      renew().catch((error: unknown) => log.warn({ err: error }, 'the evaluator’s lease was not renewed'));
    }, RENEW_MS);
    timer.unref();
    return {
      fence,
      setBack,
      signal: lost.signal,
      check: () => {
        if (lost.signal.aborted || clock.monotonic() - renewed > LEASE_MS) {
          throw new LeaseLost('the evaluator’s lease was lost');
        }
      },
      release: async () => {
        clearInterval(timer);
        await leases.change({ id: ID, holder, fence }, { set: { holder: null } });
      },
    };
  }
}
