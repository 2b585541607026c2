/**
 * The evaluator's lease (contract 30, runs): runs never overlap, whichever process and trigger they come from. It lasts
 * 45 s and is renewed every 15 s. What a run writes about itself names the fencing number, and what it writes into
 * monitors compares `rev`, so a run that was frozen past its lease changes nothing afterwards. It is judged by the
 * clock, because a tick lives too short to watch a lease.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { Lease, type HeldLease } from '../../../lib/lease.js';
import { DEPS, type Deps } from '../deps.js';

export const LEASE_MS = 45_000;

@injectable()
export class EvaluatorLease {
  constructor(@inject(DEPS) private readonly deps: Deps) {}

  /** Null: a living owner holds it. */
  async take(): Promise<HeldLease | null> {
    const { leases, ids, clock, processes, log } = this.deps;
    const lease = new Lease(leases, {
      id: 'evaluator',
      ttlMs: LEASE_MS,
      judge: 'clock',
      clock,
      uuid: () => ids.uuid(),
      owner: await processes.self(),
      ownerDead: (owner) => processes.dead(owner),
      onFault: (error) => log.warn({ err: error }, 'the evaluator’s lease was not renewed'),
    });
    return lease.take();
  }
}
