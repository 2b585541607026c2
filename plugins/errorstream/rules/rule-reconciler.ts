/**
 * Reconciles groups after a rule change (contract 21, unmuting). Order: the rule with the marker
 * `settle_at` (a deleted rule stays, hidden) → the groups → the marker is removed. The first pass
 * runs before the response, for at most five seconds. The job repeats it when no process can still
 * use the old rule.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { each, iteratePages } from '../../../lib/paging.js';
import { isoOf } from '../../../lib/time.js';
import type { Find } from '../../../ports/store.js';
import { RULE_DEPS, type RuleDeps } from './deps.js';
import { compile, Texts } from './pattern.js';
import { isActive, toMute, type IgnoreRule } from './rule.js';

/**
 * Exceeds the time that a process may use an old rule (ignore-rule-filter.ts) plus the duration of
 * a report.
 */
export const STALE_MS = 5_000;
const ANSWER_MS = 5_000;
const BATCH_SIZE = 200;

@injectable()
export class RuleReconciler {
  /** Rule id → expiry that this process has already handled. */
  readonly #expired = new Map<string, string>();

  constructor(@inject(RULE_DEPS) private readonly deps: RuleDeps) {}

  async now(rule: IgnoreRule): Promise<void> {
    const signal = AbortSignal.timeout(ANSWER_MS);
    try {
      await this.#pass(rule, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      this.deps.log.info({ rule: rule.id }, 'unmuting goes on behind the answer');
    }
  }

  async run(signal?: AbortSignal): Promise<void> {
    const now = this.deps.clock.now();
    const expired = { gt: '', lte: isoOf(now) };
    const due: Find = { filter: { or: [{ settle_at: { gt: '' } }, { expires_at: expired }] }, limit: BATCH_SIZE };
    for await (const rule of each(this.deps.rules, due)) {
      if (rule.settle_at) await this.#settle(rule, rule.settle_at, now, signal);
      if (rule.deleted_at === null && rule.expires_at !== null && rule.expires_at <= expired.lte)
        await this.#expire(rule, rule.expires_at, now, signal);
    }
  }

  async #settle(rule: IgnoreRule, settle_at: string, now: number, signal?: AbortSignal): Promise<void> {
    await this.#pass(rule, signal);
    if (Date.parse(settle_at) + STALE_MS > now) return;
    if (rule.deleted_at !== null) await this.deps.rules.remove({ id: rule.id, deleted_at: rule.deleted_at });
    else await this.deps.rules.change({ id: rule.id, settle_at }, { set: { settle_at: null } });
  }

  async #expire(rule: IgnoreRule, at: string, now: number, signal?: AbortSignal): Promise<void> {
    if (this.#expired.get(rule.id) === at) return;
    await this.#pass(rule, signal);
    if (Date.parse(at) + STALE_MS <= now) this.#expired.set(rule.id, at);
  }

  async #pass(rule: IgnoreRule, signal?: AbortSignal): Promise<void> {
    if (!isActive(rule, this.deps.clock.now())) await this.deps.bugs.unmuteRule(rule.id, signal);
    else await this.#again(rule, signal);
  }

  async #again(rule: IgnoreRule, signal?: AbortSignal): Promise<void> {
    const { muting } = this.deps;
    const pattern = compile(rule);
    const ruled = { find: (page: object = {}) => muting.page({ ...page, muted_by: rule.id, limit: BATCH_SIZE }) };
    signal?.throwIfAborted();
    for await (const items of iteratePages(ruled, {})) {
      await Promise.all(
        items.map((item) =>
          pattern.admits(item) && pattern.test(new Texts(item))
            ? muting.reword(item.id, toMute(rule))
            : muting.unmute(item.id, rule.id),
        ),
      );
      signal?.throwIfAborted();
    }
  }
}
