/**
 * What an attempt changes (contract 70, delivery): the delivery first, guarded by its lease, then the webhook's count. A
 * crash between the two leaves one failure uncounted, never one counted twice.
 */
import { inject, injectable } from '../../kernel/contract.js';
import type { Json, Update } from '../../ports/store.js';
import { KEEP_ATTEMPTS, type Attempt, type Delivery } from './delivery.js';
import { DEPS, HOLD, isoOf, type Deps } from './deps.js';
import type { Hold } from './hold.js';
import { delayAfter } from './schedule.js';
import type { Result } from './sender.js';

@injectable()
export class Outcomes {
  constructor(
    @inject(DEPS) private readonly deps: Pick<Deps, 'webhooks' | 'deliveries' | 'clock' | 'log' | 'random'>,
    @inject(HOLD) private readonly holding: Hold,
  ) {}

  /** @param delivery as it was leased */
  async record(delivery: Delivery, result: Result): Promise<void> {
    if (result.verdict === 'success') {
      if (await this.#write(delivery, result, { set: { state: 'success' } }))
        await this.holding.reset(delivery.webhook_id);
    } else if (result.verdict === 'blocked') {
      await this.#write(delivery, result, { set: { state: 'blocked' } });
    } else await this.#failed(delivery, result);
  }

  async #failed(delivery: Delivery, result: Result): Promise<void> {
    const failures = delivery.failures + 1;
    const delay = delayAfter(failures, result, this.deps.random());
    const set: Record<string, Json> = { failures, counted: true, ...(await this.#next(delivery, delay)) };
    if (!(await this.#write(delivery, result, { set }))) return;
    if (!delivery.counted) await this.holding.count(delivery.webhook_id, result.error ?? 'failed');
  }

  async #next(delivery: Delivery, delay: number | null): Promise<Record<string, string>> {
    if (delay === null) return { state: 'exhausted' };
    const { webhooks, clock } = this.deps;
    const webhook = await webhooks.get(delivery.webhook_id);
    if (webhook?.enabled === false) return { state: 'held', held_at: clock.iso() };
    return { state: 'retrying', next_at: isoOf(clock.now() + delay) };
  }

  /** False when another process holds the lease by now: its attempt is the one that counts. */
  async #write(delivery: Delivery, result: Result, { set }: { set: Record<string, Json> }): Promise<boolean> {
    const { at, status_code, duration_ms, error, excerpt } = result;
    const attempt: Attempt = { attempt: delivery.made + 1, at, status_code, duration_ms, error, excerpt };
    const gone = ['lease_by', 'held_at'].filter((path) => set[path] === undefined);
    const update: Update = {
      set: { ...set, made: attempt.attempt, attempted_at: at, updated_at: this.deps.clock.iso() },
      push: { attempts: { each: [{ ...attempt }], keep: KEEP_ATTEMPTS } },
      unset: gone,
    };
    const { id, lease_by, lease_n } = delivery;
    const changed = await this.deps.deliveries.change({ id, lease_by, lease_n }, update);
    if (changed === null) this.deps.log.warn({ delivery: id }, 'an attempt ended after its lease');
    return changed !== null;
  }
}
