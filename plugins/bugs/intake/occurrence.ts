/**
 * Effects of an occurrence on an item beside the count: reopen, mute, unmute (contract 20, regression; 21, rules).
 * Pure.
 */
import { statedVersion, type Published } from '../item/build-names.js';
import type { ChangeSet } from '../item/change-set.js';
import type { IncomingReport } from './incoming-report.js';
import { judge } from '../builds/regression.js';
import { rankOf, severityOf } from '../item/severity.js';
import { MAY_REGRESS } from '../item/transitions.js';

/**
 * Adds the effects to the change. `late`: an old installation reported a fixed error. `regression`: the item is
 * reopened.
 */
export function planOccurrence(
  change: ChangeSet,
  incoming: IncomingReport,
  published: Published,
): { late: boolean; regression: boolean } {
  const { item } = change;
  planMuting(change, incoming);
  let late = false;
  let regression = false;
  if (item.type !== 'feature' && MAY_REGRESS.has(item.status)) {
    const verdict =
      item.review === 'open' ? 'late' : judge(item, statedVersion(incoming.report), incoming.occurred, published);
    late = verdict === 'late';
    regression = verdict === 'regression';
    if (regression) planRegression(change, incoming.report.app_version ?? null);
  }
  const { next } = change;
  if (!next.muted && !next.sent.created) change.emit(next.type === 'feature' ? 'feature.created' : 'bug.created');
  // The item became critical while it was muted, without an event.
  if (!next.muted && (item.muted || !item.sent.created) && next.severity === 'critical') change.emit('bug.critical');
  return { late, regression };
}

function planMuting(change: ChangeSet, { report }: IncomingReport): void {
  const { item } = change;
  const rule = report.muted_by ?? null;
  if (rule === null && item.muted) {
    change
      .assign({ muted: false, muted_reason: null, muted_by_rule_id: null })
      .note('unmuted', { why: 'no rule matches any more' });
  } else if (rule !== null && item.muted_by_rule_id !== rule.rule_id) {
    change.assign({ muted: true, muted_reason: rule.reason, muted_by_rule_id: rule.rule_id });
    change.note('muted', { rule_id: rule.rule_id, reason: rule.reason });
  }
}

function planRegression(change: ChangeSet, version: string | null): void {
  const { item } = change;
  change.reopen({ why: 'regression', version });
  change.assign({
    regression: true,
    regression_count: item.regression_count + 1,
    regressed_at: change.at,
    regressed_in_build: version,
  });
  const raised = item.severity_locked ? item.severity : severityOf(rankOf(item.severity) + 1);
  if (raised !== item.severity) {
    change.note('severity', { from: item.severity, to: raised, why: 'regression' }).assign({ severity: raised });
  }
  // A muted item emits no event. The occurrence that unmutes it does.
  if (change.next.muted) change.assign({ sent: { ...change.next.sent, created: false } });
  change.emit('bug.created', { regression: true });
  if (raised !== item.severity && raised === 'critical') change.emit('bug.critical');
}
