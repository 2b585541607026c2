/**
 * See contract 21, preview and apply. Each batch has a separate turn of the event loop. Applying is
 * idempotent, because muted groups are skipped.
 */
import { inject, injectable, type Collection, type Clock } from '../../../kernel/contract/index.js';
import { conflict, notFound } from '../../../kernel/errors.js';
import type { MutableErrorGroup, GroupMuter } from '../../../ports/domain/bugs.js';
import type { ApplyResult } from './documents.js';
import { RULE_DEPS } from './deps.js';
import { compilePattern, SubjectTexts, type CompiledPattern } from './compiled-pattern.js';
import { isActive, toMute, type RuleCriteria, type IgnoreRule } from './rule.js';
import { yieldToEventLoop } from '../../../lib/process/event-loop.js';

const BATCH_SIZE = 200;
const MAX_SAMPLES = 20;
const MAX_PREVIEW_MS = 8_000;
/** Limit while a page is built; *Preview* has the longer one. */
export const PAGE_PREVIEW_MS = 25;
const SLICE_MS = 5;

export interface PreviewResult {
  count: number;
  samples: MutableErrorGroup[];
  muted: number;
  complete: boolean;
}

export interface BatchResult extends ApplyResult {
  scanned: number;
  next: string | null;
}

@injectable()
export class RuleApplier {
  readonly #compiled = new WeakMap<RuleCriteria, CompiledPattern>();

  constructor(
    @inject(RULE_DEPS.rules) private readonly rules: Collection<IgnoreRule>,
    @inject(RULE_DEPS.muting) private readonly muting: GroupMuter,
    @inject(RULE_DEPS.clock) private readonly clock: Clock,
  ) {}

  /**
   * Starts at the group that was seen last.
   * @throws ServiceError invalid_pattern
   */
  async preview(rule: RuleCriteria, maxMs = MAX_PREVIEW_MS): Promise<PreviewResult> {
    const ends = this.clock.monotonic() + maxMs;
    let count = 0;
    let muted = 0;
    let samples: MutableErrorGroup[] = [];
    let after: string | null = null;
    do {
      const page: { matched: MutableErrorGroup[]; next: string | null } = await this.#findMatches(rule, after, true);
      count += page.matched.length;
      muted += page.matched.filter((group) => group.muted).length;
      samples = [...samples, ...page.matched]
        .toSorted((a, b) => (a.last_seen_at < b.last_seen_at ? 1 : -1))
        .slice(0, MAX_SAMPLES);
      after = page.next;
    } while (after !== null && this.clock.monotonic() < ends);
    return { count, samples, muted, complete: after === null };
  }

  /** @throws ServiceError not_found; conflict when the rule is inactive or changes meanwhile */
  async apply(id: string, options: { dry_run?: boolean; signal?: AbortSignal } = {}): Promise<ApplyResult> {
    const rule = await this.getActiveRule(id, options.dry_run);
    const sum: ApplyResult = { matched: 0, muted: 0, skipped: 0 };
    let after: string | null = null;
    do {
      if (options.signal?.aborted === true) throw conflict('The client disconnected; apply the rule again.');
      const step: BatchResult = await this.applyBatch(rule, after, options.dry_run);
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
  async getActiveRule(id: string, dryRun = false): Promise<IgnoreRule> {
    const rule = await this.rules.get(id);
    if (rule === null || rule.deleted_at !== null) throw notFound('ignore rule with this id');
    if (!dryRun && !isActive(rule, this.clock.now()))
      throw conflict('The rule is disabled or has expired, so it mutes nothing; enable it first.');
    return rule;
  }

  /** @throws ServiceError not_found; conflict when the rule has changed */
  async applyBatch(rule: IgnoreRule, after: string | null, dryRun = false): Promise<BatchResult> {
    const { matched, scanned, next } = await this.#findMatches(rule, after);
    const open = matched.filter(({ muted }) => !muted);
    let muted = 0;
    if (!dryRun && open.length > 0) {
      const now = await this.getActiveRule(rule.id);
      if (now.updated_at !== rule.updated_at)
        throw conflict('The rule was changed while it was being applied; apply it again.');
      const results = await Promise.all(open.map(({ id }) => this.muting.mute(id, toMute(rule))));
      muted = results.filter(Boolean).length;
    }
    const skipped = dryRun ? matched.length - open.length : matched.length - muted;
    return { matched: matched.length, muted, skipped, scanned, next };
  }

  async #findMatches(
    rule: RuleCriteria,
    after: string | null,
    newest = false,
  ): Promise<{ matched: MutableErrorGroup[]; scanned: number; next: string | null }> {
    const pattern = this.#compiled.get(rule) ?? compilePattern(rule);
    this.#compiled.set(rule, pattern);
    const { items, next } = await this.muting.listGroups({
      project: rule.project,
      newest,
      limit: BATCH_SIZE,
      after,
    });
    const matched: MutableErrorGroup[] = [];
    let began = this.clock.monotonic();
    for (const item of items) {
      if (pattern.appliesTo(item) && pattern.matches(new SubjectTexts(item))) matched.push(item);
      if (this.clock.monotonic() - began > SLICE_MS) {
        await yieldToEventLoop();
        began = this.clock.monotonic();
      }
    }
    return { matched, scanned: items.length, next };
  }
}
