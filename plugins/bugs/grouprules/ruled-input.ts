/** The grouping of a report that a grouping rule may have taken over. Pure. */
import { computeGrouping, type GroupingInput } from '../grouping/key.js';
import type { MaskOptions } from '../grouping/mask.js';
import type { Keyed } from '../groups/keys.js';
import type { Ruling } from './compiled-rule.js';

/**
 * @param report with its own title: a rule's title is for people, and changes no key
 * @param ruling null: no rule fits
 */
export function applyRuling(report: GroupingInput, ruling: Ruling | null, masks: Partial<MaskOptions>): Keyed {
  const { project } = report;
  if (ruling === null || ruling.fingerprint === null) return { project, report, ...computeGrouping(report, masks) };
  const { rule_id, fingerprint, keeps_class } = ruling;
  // A rule may make one group of several classes; one that names {{ default }} refines what is grouped without it.
  const exception_class = keeps_class ? (report.exception_class ?? null) : null;
  const ruled: GroupingInput = { ...report, fingerprint, exception_class };
  return { project, report: ruled, rule_id, ...computeGrouping(ruled, masks) };
}
