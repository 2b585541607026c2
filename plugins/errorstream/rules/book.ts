/**
 * This process's copy of the ignore rules, as a report filter of the bug tracker (ports/domain/bugs.ts). The rules are
 * kept here, compiled, so matching reads no store.
 *
 * A change applies in this process before its call is answered. Other processes notice it by the revision, a small
 * document that every change raises after the rule is written. A process reads the revision again in the background
 * when its copy is one second old, and before it matches anything when its copy is two seconds old. So a change applies
 * everywhere within two seconds, and an idle process reads nothing. If a process dies between the rule and the
 * revision, its caller got no answer; all rules are read again every half minute anyway.
 *
 * Rejected: reading all rules every second (hundreds of documents for nothing), and a timer (idle processes would read
 * too).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { all } from '../../../lib/paging.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import type { Mute, Report, ReportFilter } from '../../../ports/domain/bugs.js';
import { BOOK_ID } from './documents.js';
import { RULE_DEPS, type RuleDeps } from './deps.js';
import { Hits } from './hits.js';
import { isActive, type IgnoreRule } from './rule.js';
import { RuleSet } from './ruleset.js';

const SHOULD_MS = 1_000;
const MUST_MS = 2_000;
const WHOLE_MS = 30_000;
const PAGE = 200;

@injectable()
export class RuleBook implements ReportFilter {
  #set: RuleSet | null = null;
  #rev = -1;
  #checkedAt = -Infinity;
  #loadedAt = -Infinity;
  readonly #reads = new SingleFlight<void>();

  constructor(
    @inject(RULE_DEPS) private readonly deps: RuleDeps,
    @inject(Hits) private readonly hits: Hits,
  ) {}

  match(report: Report): Mute | null | Promise<Mute | null> {
    const age = this.deps.clock.monotonic() - this.#checkedAt;
    if (this.#set === null || age > MUST_MS) return this.reload().then((set) => this.#ask(set, report));
    if (age > SHOULD_MS) this.#inBackground();
    return this.#ask(this.#set, report);
  }

  hit(ruleId: string, at: string): Promise<void> {
    return this.hits.add(ruleId, at);
  }

  async watched(): Promise<{ rule_id: string; threshold: number; since: string }[]> {
    const now = this.deps.clock.now();
    return (await this.all()).flatMap((rule) =>
      rule.alarm_threshold === null || !isActive(rule, now)
        ? []
        : [{ rule_id: rule.id, threshold: rule.alarm_threshold, since: rule.updated_at }],
    );
  }

  async page(ruleId: string): Promise<string | null> {
    const known = (await this.all()).some((rule) => rule.id === ruleId);
    return known ? `/ignore-rules/${ruleId}` : null;
  }

  /** Every rule in order of creation, including those being deleted. Their counters may be old. */
  async all(): Promise<readonly IgnoreRule[]> {
    return (await this.reload()).rules;
  }

  /** Call after writing a rule. The change applies here when this resolves, in other processes within two seconds. */
  async changed(): Promise<void> {
    await this.deps.revisions.change({ id: BOOK_ID }, { inc: { rev: 1 } }, { upsert: true });
    await this.reload();
  }

  /** Reads the store. Callers share a read, but only one that begins after they asked. */
  async reload(): Promise<RuleSet> {
    await this.#reads.fresh(BOOK_ID, () => this.#read());
    return this.#set as RuleSet;
  }

  #ask(set: RuleSet, report: Report): Mute | null | Promise<Mute | null> {
    const { clock } = this.deps;
    return set.match(report, clock.now(), () => clock.monotonic());
  }

  #inBackground(): void {
    this.#reads
      .share(BOOK_ID, () => this.#read())
      .catch((error: unknown) => this.deps.log.error({ err: error }, 'the ignore rules could not be read again'));
  }

  async #read(): Promise<void> {
    const began = this.deps.clock.monotonic();
    // The revision comes first, so that the next read notices a change between the two.
    const rev = (await this.deps.revisions.get(BOOK_ID))?.rev ?? 0;
    if (this.#set === null || rev !== this.#rev || began - this.#loadedAt > WHOLE_MS) {
      const rules = await all(this.deps.rules, { limit: PAGE });
      this.#set = RuleSet.of(rules, this.#set, this.deps.log);
      this.#rev = rev;
      this.#loadedAt = began;
    }
    this.#checkedAt = began;
  }
}
