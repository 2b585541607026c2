/** What an occurrence does to an item beside being counted: reopen, mute, unmute (contract 20, regression; 21, rules). Pure. */
import type { Published } from './builds.js';
import type { Draft } from './draft.js';
import type { Arrival } from './arrival.js';
import { judge } from './regression.js';
import { rankOf, severityOf } from './severity.js';
import { MAY_REGRESS } from './transitions.js';

/** Plans into the draft. `late`: an old installation reported a fixed error. */
export function planOccurrence(draft: Draft, arrival: Arrival, published: Published): { late: boolean } {
  const { item } = draft;
  planMuting(draft, arrival);
  let late = false;
  if (item.type !== 'feature' && MAY_REGRESS.has(item.status)) {
    const version = arrival.report.app_version ?? null;
    const verdict = judge(item, version, arrival.occurred, published);
    late = verdict === 'late';
    if (verdict === 'regression') planRegression(draft, version);
  }
  const { next } = draft;
  if (!next.muted && !next.sent.created) draft.tell(next.type === 'feature' ? 'feature.created' : 'bug.created');
  // Critical before it was unmuted: nobody was told.
  if (!next.muted && (item.muted || !item.sent.created) && next.severity === 'critical') draft.tell('bug.critical');
  return { late };
}

function planMuting(draft: Draft, { report }: Arrival): void {
  const { item } = draft;
  const rule = report.muted_by ?? null;
  if (rule === null && item.muted) {
    draft
      .assign({ muted: false, muted_reason: null, muted_by_rule_id: null })
      .note('unmuted', { why: 'no rule matches any more' });
  } else if (rule !== null && item.muted_by_rule_id !== rule.rule_id) {
    draft.assign({ muted: true, muted_reason: rule.reason, muted_by_rule_id: rule.rule_id });
    draft.note('muted', { rule_id: rule.rule_id, reason: rule.reason });
  }
}

function planRegression(draft: Draft, version: string | null): void {
  const { item } = draft;
  draft.reopen({ why: 'regression', version });
  draft.assign({
    regression: true,
    regression_count: item.regression_count + 1,
    regressed_at: draft.at,
    regressed_in_build: version,
  });
  const raised = item.severity_locked ? item.severity : severityOf(rankOf(item.severity) + 1);
  if (raised !== item.severity) {
    draft.note('severity', { from: item.severity, to: raised, why: 'regression' }).assign({ severity: raised });
  }
  // Of a muted item nothing is told: the occurrence that unmutes it will.
  if (draft.next.muted) draft.assign({ sent: { ...draft.next.sent, created: false } });
  draft.tell('bug.created', { regression: true });
  if (raised !== item.severity && raised === 'critical') draft.tell('bug.critical');
}
