/**
 * Preview and retroactive apply of a rule (contract 21, preview and apply). Groups are read in
 * batches, each in a separate turn of the event loop. Applying is idempotent, because muted groups
 * are skipped.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { conflict, notFound } from '../../../kernel/errors.js';
import type { Mutable } from '../../../ports/domain/bugs.js';
import type { Applied } from './documents.js';
import { RULE_DEPS, type RuleDeps } from './deps.js';
import { compile, Texts, type Pattern } from './pattern.js';
import { isActive, toMute, type Matching, type IgnoreRule } from './rule.js';
import { yieldToEventLoop } from '../../../lib/process/event-loop.js';

const BATCH_SIZE = 200;
const SAMPLES = 20;
const PREVIEW_MS = 8_000;
const SLICE_MS = 5;

export interface Preview {
  count: number;
  samples: Mutable[];
  muted: number;
  complete: boolean;
}

export interface Step extends Applied {
  scanned: number;
  next: string | null;
}

@injectable()
export class RulePreview {
  readonly #compiled = new WeakMap<Matching, Pattern>();

  constructor(@inject(RULE_DEPS) private readonly deps: RuleDeps) {}

  /**
   * Stores nothing.
   * @throws ServiceError invalid_pattern
   */
  async preview(rule: Matching): Promise<Preview> {
    const ends = this.deps.clock.monotonic() + PREVIEW_MS;
    let count = 0;
    let muted = 0;
    let samples: Mutable[] = [];
    let after: string | null = null;
    do {
      const page: { matched: Mutable[]; next: string | null } = await this.#matching(rule, after);
      count += page.matched.length;
      muted += page.matched.filter((group) => group.muted).length;
      samples = [...samples, ...page.matched]
        .toSorted((a, b) => (a.last_seen_at < b.last_seen_at ? 1 : -1))
        .slice(0, SAMPLES);
      after = page.next;
    } while (after !== null && this.deps.clock.monotonic() < ends);
    return { count, samples, muted, complete: after === null };
  }

  /** @throws ServiceError not_found; conflict when the rule is inactive or changes meanwhile */
  async apply(id: string, options: { dry_run?: boolean; signal?: AbortSignal } = {}): Promise<Applied> {
    const rule = await this.active(id, options.dry_run);
    const sum: Applied = { matched: 0, muted: 0, skipped: 0 };
    let after: string | null = null;
    do {
      if (options.signal?.aborted === true) throw conflict('The caller went away; apply the rule again.');
      const step: Step = await this.step(rule, after, options.dry_run);
      sum.matched += step.matched;
      sum.muted += step.muted;
      sum.skipped += step.skipped;
      after = step.next;
    } while (after !== null);
    return sum;
  }

  /**
   * Returns the rule if it may be applied.
   * @throws ServiceError not_found, conflict
   */
  async active(id: string, dryRun = false): Promise<IgnoreRule> {
    const rule = await this.deps.rules.get(id);
    if (rule === null || rule.deleted_at !== null) throw notFound('ignore rule with this id');
    if (!dryRun && !isActive(rule, this.deps.clock.now()))
      throw conflict('The rule is disabled or has expired, so it mutes nothing; enable it first.');
    return rule;
  }

  /**
   * Processes one batch.
   * @throws ServiceError not_found; conflict when the rule has changed
   */
  async step(rule: IgnoreRule, after: string | null, dryRun = false): Promise<Step> {
    const { matched, scanned, next } = await this.#matching(rule, after);
    const open = matched.filter(({ muted }) => !muted);
    let muted = 0;
    if (!dryRun && open.length > 0) {
      const now = await this.active(rule.id);
      if (now.updated_at !== rule.updated_at)
        throw conflict('The rule was changed while it was applied; apply it again.');
      const results = await Promise.all(open.map(({ id }) => this.deps.muting.mute(id, toMute(rule))));
      muted = results.filter(Boolean).length;
    }
    const skipped = dryRun ? matched.length - open.length : matched.length - muted;
    return { matched: matched.length, muted, skipped, scanned, next };
  }

  async #matching(
    rule: Matching,
    after: string | null,
  ): Promise<{ matched: Mutable[]; scanned: number; next: string | null }> {
    const pattern = this.#compiled.get(rule) ?? compile(rule);
    this.#compiled.set(rule, pattern);
    const { items, next } = await this.deps.muting.page({ project: rule.project, limit: BATCH_SIZE, after });
    const matched: Mutable[] = [];
    let began = this.deps.clock.monotonic();
    for (const item of items) {
      if (pattern.admits(item) && pattern.test(new Texts(item))) matched.push(item);
      if (this.deps.clock.monotonic() - began > SLICE_MS) {
        await yieldToEventLoop();
        began = this.deps.clock.monotonic();
      }
    }
    return { matched, scanned: items.length, next };
  }
}
