import type { Logger } from '../../../kernel/contract/index.js';
import { compileRule, RuleProblem, type CompiledRule, type RuleOutcome } from './compiled-rule.js';
import type { GroupingRule } from '../grouping/grouping-rule.js';
import type { RuleSubject } from './rule-subject.js';

const MAX_SLICE_MS = 5;

export class GroupingRuleSet {
  private constructor(private readonly compiled: readonly CompiledRule[]) {}

  static compile(rules: readonly GroupingRule[], log: Pick<Logger, 'error'>): GroupingRuleSet {
    const compiled: CompiledRule[] = [];
    for (const rule of rules.filter(({ enabled }) => enabled)) {
      try {
        compiled.push(compileRule(rule));
      } catch (error) {
        if (!(error instanceof RuleProblem)) throw error;
        // Validated before storing, so another version wrote it.
        log.error({ err: error, rule: rule.id }, 'a grouping rule could not be compiled and is ignored');
      }
    }
    return new GroupingRuleSet(compiled);
  }

  evaluate(subject: RuleSubject, monotonic: () => number, from = 0): RuleOutcome | null | Promise<RuleOutcome | null> {
    const began = monotonic();
    for (let i = from; i < this.compiled.length; i++) {
      const rule = this.compiled[i] as CompiledRule;
      if (rule.matches(subject)) return rule.evaluate(subject);
      if (rule.slow && i + 1 < this.compiled.length && monotonic() - began > MAX_SLICE_MS)
        return new Promise<void>((resolve) => setImmediate(resolve)).then(() =>
          this.evaluate(subject, monotonic, i + 1),
        );
    }
    return null;
  }
}
