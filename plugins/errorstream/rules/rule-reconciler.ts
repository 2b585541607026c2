/**
 * After a rule change (contract 21, unmuting). Order: the rule with the marker `settle_at` (a
 * deleted rule stays, hidden) → the groups → the marker is removed. The first pass runs before the
 * response, for at most five seconds; the job repeats it when no process can still use the old
 * rule.
 */
import { inject, injectable, type Collection, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { iterateItems, iteratePages } from '../../../lib/paging.js';
import { toIsoString } from '../../../lib/time.js';
import type { FindQuery } from '../../../ports/store/index.js';
import { RULE_DEPS } from './deps.js';
import { compilePattern, SubjectTexts } from './compiled-pattern.js';
import { isActive, toMute, type IgnoreRule } from './rule.js';
import type { BugsApi, GroupMuter } from '../../../ports/domain/bugs.js';

/** Exceeds the time of an old rule (ignore-rule-filter.ts) plus a report's duration. */
export const RULE_STALE_MS = 5_000;
const FIRST_PASS_TIMEOUT_MS = 5_000;
const BATCH_SIZE = 200;

@injectable()
export class RuleReconciler {
  /** Rule id → handled expiry. */
  readonly #expired = new Map<string, string>();

  constructor(
    @inject(RULE_DEPS.rules) private readonly rules: Collection<IgnoreRule>,
    @inject(RULE_DEPS.bugs) private readonly bugs: Pick<BugsApi, 'unmuteByRule'>,
    @inject(RULE_DEPS.muting) private readonly muting: GroupMuter,
    @inject(RULE_DEPS.clock) private readonly clock: Clock,
    @inject(RULE_DEPS.log) private readonly log: Logger,
  ) {}

  async runFirstPass(rule: IgnoreRule): Promise<void> {
    const signal = AbortSignal.timeout(FIRST_PASS_TIMEOUT_MS);
    try {
      await this.#runPass(rule, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      this.log.info({ rule: rule.id }, 'unmuting continues after the response');
    }
  }

  async run(signal?: AbortSignal): Promise<void> {
    const now = this.clock.now();
    const expired = { gt: '', lte: toIsoString(now) };
    const due: FindQuery = { filter: { or: [{ settle_at: { gt: '' } }, { expires_at: expired }] }, limit: BATCH_SIZE };
    for await (const rule of iterateItems(this.rules, due)) {
      if (rule.settle_at) await this.#reconcileRule(rule, rule.settle_at, now, signal);
      if (rule.deleted_at === null && rule.expires_at !== null && rule.expires_at <= expired.lte)
        await this.#expire(rule, rule.expires_at, now, signal);
    }
  }

  async #reconcileRule(rule: IgnoreRule, settle_at: string, now: number, signal?: AbortSignal): Promise<void> {
    await this.#runPass(rule, signal);
    if (Date.parse(settle_at) + RULE_STALE_MS > now) return;
    if (rule.deleted_at !== null) await this.rules.remove({ id: rule.id, deleted_at: rule.deleted_at });
    else await this.rules.change({ id: rule.id, settle_at }, { set: { settle_at: null } });
  }

  async #expire(rule: IgnoreRule, at: string, now: number, signal?: AbortSignal): Promise<void> {
    if (this.#expired.get(rule.id) === at) return;
    await this.#runPass(rule, signal);
    if (Date.parse(at) + RULE_STALE_MS <= now) this.#expired.set(rule.id, at);
  }

  async #runPass(rule: IgnoreRule, signal?: AbortSignal): Promise<void> {
    if (!isActive(rule, this.clock.now())) await this.bugs.unmuteByRule(rule.id, signal);
    else await this.#unmuteNonMatching(rule, signal);
  }

  async #unmuteNonMatching(rule: IgnoreRule, signal?: AbortSignal): Promise<void> {
    const muting = this.muting;
    const pattern = compilePattern(rule);
    const ruled = { find: (page: object = {}) => muting.listGroups({ ...page, muted_by: rule.id, limit: BATCH_SIZE }) };
    signal?.throwIfAborted();
    for await (const items of iteratePages(ruled, {})) {
      await Promise.all(
        items.map((item) =>
          pattern.appliesTo(item) && pattern.matches(new SubjectTexts(item))
            ? muting.updateReason(item.id, toMute(rule))
            : muting.unmute(item.id, rule.id),
        ),
      );
      signal?.throwIfAborted();
    }
  }
}
