/** Enabled rules in order of precedence (contract 21: the first by creation). */
import type { Logger } from '../../../kernel/contract/index.js';
import type { Mute } from '../../../ports/domain/bugs.js';
import { compilePattern, SubjectTexts, type CompiledPattern } from './compiled-pattern.js';
import { isActive, toMute, type IgnoreRule } from './rule.js';
import type { MatchSubject } from './match-subject.js';
import { yieldToEventLoop } from '../../../lib/process/event-loop.js';

interface CompiledRule {
  rule: IgnoreRule;
  pattern: CompiledPattern;
}

const SLICE_MS = 5;

export class RuleSet {
  readonly #everywhere: CompiledRule[];
  readonly #byProject = new Map<string, CompiledRule[]>();

  private constructor(
    readonly rules: readonly IgnoreRule[],
    private readonly patterns: ReadonlyMap<string, CompiledPattern>,
  ) {
    const entries = rules.flatMap((rule) => {
      const pattern = rule.enabled ? patterns.get(toPatternKey(rule)) : undefined;
      return pattern === undefined ? [] : [{ rule, pattern }];
    });
    this.#everywhere = entries.filter(({ rule }) => rule.project === null);
    for (const slug of new Set(entries.map(({ rule }) => rule.project))) {
      if (slug !== null)
        this.#byProject.set(
          slug,
          entries.filter(({ rule }) => rule.project === null || rule.project === slug),
        );
    }
  }

  static create(rules: readonly IgnoreRule[], before: RuleSet | null, log: Logger): RuleSet {
    const patterns = new Map<string, CompiledPattern>();
    for (const rule of rules.filter(({ enabled }) => enabled)) {
      try {
        patterns.set(toPatternKey(rule), before?.patterns.get(toPatternKey(rule)) ?? compilePattern(rule));
      } catch (error) {
        log.error({ err: error, rule: rule.id }, 'an ignore rule could not be compiled and is ignored');
      }
    }
    return new RuleSet(rules, patterns);
  }

  /**
   * First match; a promise only when matching takes long.
   * @param now milliseconds
   */
  match(subject: MatchSubject, now: number, monotonic: () => number): Mute | null | Promise<Mute | null> {
    const entries = this.#byProject.get(subject.project) ?? this.#everywhere;
    if (entries.length === 0) return null;
    return matchEntries(entries, 0, subject, new SubjectTexts(subject), now, monotonic);
  }
}

function matchEntries(
  entries: readonly CompiledRule[],
  from: number,
  subject: MatchSubject,
  texts: SubjectTexts,
  now: number,
  monotonic: () => number,
): Mute | null | Promise<Mute | null> {
  const began = monotonic();
  for (let i = from; i < entries.length; i++) {
    const { rule, pattern } = entries[i] as CompiledRule;
    if (!pattern.appliesTo(subject) || !isActive(rule, now)) continue;
    if (pattern.matches(texts)) return toMute(rule);
    if (i + 1 < entries.length && pattern.slow && monotonic() - began > SLICE_MS)
      return yieldToEventLoop().then(() => matchEntries(entries, i + 1, subject, texts, now, monotonic));
  }
  return null;
}

const toPatternKey = ({ match_type, pattern, case_sensitive, project, environment }: IgnoreRule): string =>
  JSON.stringify([match_type, pattern, case_sensitive, project, environment]);
