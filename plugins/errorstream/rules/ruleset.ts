/**
 * Snapshot of the enabled rules, compiled, in order of precedence (contract 21: the first by
 * creation).
 */
import type { Logger } from '../../../kernel/contract.js';
import type { Mute } from '../../../ports/domain/bugs.js';
import { compile, Texts, type Pattern } from './pattern.js';
import { isActive, toMute, type IgnoreRule } from './rule.js';
import type { Subject } from './subject.js';
import { yieldToEventLoop } from '../../../lib/process/event-loop.js';

interface Entry {
  rule: IgnoreRule;
  pattern: Pattern;
}

const SLICE_MS = 5;

export class RuleSet {
  readonly #everywhere: Entry[];
  readonly #byProject = new Map<string, Entry[]>();

  private constructor(
    readonly rules: readonly IgnoreRule[],
    private readonly patterns: ReadonlyMap<string, Pattern>,
  ) {
    const entries = rules.flatMap((rule) => {
      const pattern = rule.enabled ? patterns.get(keyOf(rule)) : undefined;
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

  static of(rules: readonly IgnoreRule[], before: RuleSet | null, log: Logger): RuleSet {
    const patterns = new Map<string, Pattern>();
    for (const rule of rules.filter(({ enabled }) => enabled)) {
      try {
        patterns.set(keyOf(rule), before?.patterns.get(keyOf(rule)) ?? compile(rule));
      } catch (error) {
        log.error({ err: error, rule: rule.id }, 'an ignore rule cannot be compiled and mutes nothing');
      }
    }
    return new RuleSet(rules, patterns);
  }

  /**
   * Returns the mute of the first matching rule; a promise only when matching takes long.
   * @param now milliseconds
   */
  match(subject: Subject, now: number, monotonic: () => number): Mute | null | Promise<Mute | null> {
    const entries = this.#byProject.get(subject.project) ?? this.#everywhere;
    if (entries.length === 0) return null;
    return walk(entries, 0, subject, new Texts(subject), now, monotonic);
  }
}

function walk(
  entries: readonly Entry[],
  from: number,
  subject: Subject,
  texts: Texts,
  now: number,
  monotonic: () => number,
): Mute | null | Promise<Mute | null> {
  const began = monotonic();
  for (let i = from; i < entries.length; i++) {
    const { rule, pattern } = entries[i] as Entry;
    if (!pattern.admits(subject) || !isActive(rule, now)) continue;
    if (pattern.test(texts)) return toMute(rule);
    if (i + 1 < entries.length && pattern.slow && monotonic() - began > SLICE_MS)
      return yieldToEventLoop().then(() => walk(entries, i + 1, subject, texts, now, monotonic));
  }
  return null;
}

const keyOf = ({ match_type, pattern, case_sensitive, project, environment }: IgnoreRule): string =>
  JSON.stringify([match_type, pattern, case_sensitive, project, environment]);
