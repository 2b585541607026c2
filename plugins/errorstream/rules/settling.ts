/**
 * What a change of a rule leads to: groups that it muted and mutes no more are unmuted, and a new reason stands in those
 * that stay (contract 21: disabling, deleting or expiry unmutes).
 *
 * Order: the rule with the marker `settle_at` (a deleted one stays, hidden, until then) → the groups → the marker goes. The
 * caller's own pass runs before its answer, for five seconds at most. The job makes another one later than any process can
 * still work with the rule as it was, and ends what a crash cut off.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { RULE_DEPS, type RuleDeps } from './deps.js';
import { compile, Texts } from './pattern.js';
import { isActive, muteOf, type Rule } from './rule.js';

/** Longer than another process may go on with an old rule (book.ts), and a report may be under way. */
export const STALE_MS = 5_000;
const ANSWER_MS = 5_000;
const BATCH = 200;

@injectable()
export class Settling {
  /** Rules by id, with the moment of expiry that this process has settled. */
  readonly #expired = new Map<string, string>();

  constructor(@inject(RULE_DEPS) private readonly deps: RuleDeps) {}

  /** The caller's pass. What it does not manage in time the job does. */
  async now(rule: Rule): Promise<void> {
    const signal = AbortSignal.timeout(ANSWER_MS);
    try {
      await this.#pass(rule, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      this.deps.log.info({ rule: rule.id }, 'unmuting goes on behind the answer');
    }
  }

  /** The job: marked rules, and those whose time is up. */
  async run(signal?: AbortSignal): Promise<void> {
    const now = this.deps.clock.now();
    const due = await this.deps.rules.find({
      filter: { settle_at: { gt: '' } },
      sort: [['settle_at', 'asc']],
      limit: 200,
    });
    for (const rule of due.items) {
      await this.#pass(rule, signal);
      if (Date.parse(rule.settle_at as string) + STALE_MS > now) continue;
      if (rule.deleted_at !== null) await this.deps.rules.remove({ id: rule.id, deleted_at: rule.deleted_at });
      else await this.deps.rules.change({ id: rule.id, settle_at: rule.settle_at }, { set: { settle_at: null } });
    }
    await this.#expiries(now, signal);
  }

  async #expiries(now: number, signal?: AbortSignal): Promise<void> {
    let after: string | null = null;
    do {
      const page: { items: Rule[]; next: string | null } = await this.deps.rules.find({
        filter: { expires_at: { gt: '', lte: new Date(now).toISOString() } },
        sort: [['expires_at', 'asc']],
        limit: BATCH,
        after,
      });
      for (const rule of page.items) {
        const at = rule.expires_at as string;
        if (this.#expired.get(rule.id) === at) continue;
        await this.#pass(rule, signal);
        if (Date.parse(at) + STALE_MS <= now) this.#expired.set(rule.id, at);
      }
      after = page.next;
    } while (after !== null);
  }

  async #pass(rule: Rule, signal?: AbortSignal): Promise<void> {
    if (!isActive(rule, this.deps.clock.now())) await this.deps.bugs.unmuteRule(rule.id, signal);
    else await this.#again(rule, signal);
  }

  /** An edited rule: what it no longer matches is unmuted. */
  async #again(rule: Rule, signal?: AbortSignal): Promise<void> {
    const { muting } = this.deps;
    const pattern = compile(rule);
    let after: string | null = null;
    do {
      signal?.throwIfAborted();
      const page: Awaited<ReturnType<typeof muting.page>> = await muting.page({
        muted_by: rule.id,
        limit: BATCH,
        after,
      });
      await Promise.all(
        page.items.map((item) =>
          pattern.admits(item) && pattern.test(new Texts(item))
            ? muting.reword(item.id, muteOf(rule))
            : muting.unmute(item.id, rule.id),
        ),
      );
      after = page.next;
    } while (after !== null);
  }
}
