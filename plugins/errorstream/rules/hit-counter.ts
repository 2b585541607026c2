/**
 * Raised before the response. Hits during a write share the next one, so load causes few writes and
 * a crash loses no acknowledged hit.
 */
import { inject, injectable, type Collection, type Clock } from '../../../kernel/contract/index.js';
import { MAX_AHEAD_MS } from '../../../lib/clock-skew.js';
import { toIsoString } from '../../../lib/time.js';
import { RULE_DEPS } from './deps.js';
import type { IgnoreRule } from './rule.js';

interface HitBatch {
  n: number;
  last: string;
  done: Promise<void>;
}

@injectable()
export class HitCounter {
  readonly #waiting = new Map<string, HitBatch>();
  readonly #running = new Map<string, Promise<void>>();

  constructor(
    @inject(RULE_DEPS.rules) private readonly rules: Collection<IgnoreRule>,
    @inject(RULE_DEPS.clock) private readonly clock: Clock,
  ) {}

  /**
   * Resolves after the commit; ignores deleted rules.
   * @param at RFC 3339
   */
  count(ruleId: string, at: string): Promise<void> {
    const waiting = this.#waiting.get(ruleId);
    if (waiting !== undefined) {
      waiting.n += 1;
      if (at > waiting.last) waiting.last = at;
      return waiting.done;
    }
    const batch: HitBatch = { n: 1, last: at, done: Promise.resolve() };
    this.#waiting.set(ruleId, batch);
    batch.done = (this.#running.get(ruleId) ?? Promise.resolve()).then(() => this.#write(ruleId, batch));
    return batch.done;
  }

  #write(ruleId: string, batch: HitBatch): Promise<void> {
    this.#waiting.delete(ruleId);
    const written = this.rules
      .change({ id: ruleId }, { inc: { hit_count: batch.n }, max: { last_hit_at: batch.last } })
      .then((counted) => this.#correctFutureTime(counted?.doc ?? null, batch.last));
    // The next batch runs despite an error.
    const settled = written
      .catch(() => undefined)
      .finally(() => {
        if (this.#running.get(ruleId) === settled) this.#running.delete(ruleId);
      });
    this.#running.set(ruleId, settled);
    return written;
  }

  /** The clock has moved backwards. */
  async #correctFutureTime(rule: IgnoreRule | null, last: string): Promise<void> {
    const { rules, clock } = this;
    const shown = rule?.last_hit_at ?? '';
    if (rule === null || shown <= toIsoString(clock.now() + MAX_AHEAD_MS)) return;
    await rules.change({ id: rule.id, last_hit_at: shown }, { set: { last_hit_at: last } });
  }
}
