import { computeGrouping, type GroupingInput } from '../grouping/grouping-key.js';
import type { MaskOptions } from '../grouping/message-mask.js';
import type { KeyedReport } from '../groups/grouping-keys.js';
import type { RuleOutcome } from './compiled-rule.js';

/**
 * @param report with its original title: a rule's title changes no key
 * @param ruling null if no rule matches
 */
export function applyRuleOutcome(
  report: GroupingInput,
  ruling: RuleOutcome | null,
  masks: Partial<MaskOptions>,
): KeyedReport {
  const { project } = report;
  if (ruling === null || ruling.fingerprint === null) return { project, report, ...computeGrouping(report, masks) };
  const { rule_id, fingerprint, keeps_class } = ruling;
  // `{{ default }}` refines the default grouping.
  const exception_class = keeps_class ? (report.exception_class ?? null) : null;
  const ruled: GroupingInput = { ...report, fingerprint, exception_class };
  return { project, report: ruled, rule_id, ...computeGrouping(ruled, masks) };
}
