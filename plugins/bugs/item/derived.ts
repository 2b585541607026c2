import { getPullRequestPage } from '../../../lib/http/pull-request-page.js';
import { buildKey } from './build-names.js';
import type { ItemDoc } from './model.js';
import { getSeverityRank } from './severity.js';
import { BLIND_KIND } from './stored-names.js';
import { AWAITS_BUILD, isFinished, MAY_REGRESS } from './transitions.js';

type State = Pick<
  ItemDoc,
  | 'status'
  | 'type'
  | 'muted'
  | 'muted_by_rule_id'
  | 'severity'
  | 'regression'
  | 'created_at'
  | 'project'
  | 'resolved_in_build'
  | 'sent'
> &
  Partial<Pick<ItemDoc, 'held' | 'blocked' | 'pr_url' | 'pr_fix_at' | 'pr_key' | 'review'>>;

/** Returns the kind of an occurrence: `n`, or `m:<rule>` if an ignore rule matched it. */
export const getReportBlindKind = (ruleId: string | null | undefined): string =>
  typeof ruleId === 'string' ? `m:${ruleId}` : 'n';

export function getItemBlindKind(item: State): string | null {
  if (item.status === 'duplicate') return null;
  if (item.type !== 'feature' && MAY_REGRESS.has(item.status)) return null;
  if (!item.muted && !item.sent.created) return null;
  return item.muted ? getReportBlindKind(item.muted_by_rule_id) : 'n';
}

/**
 * Returns the queue order: severity first, regressions before others, then oldest (contract 20,
 * leases).
 */
function queueKeyOf(item: State): string | null {
  if (item.status !== 'open' || item.muted || item.held || item.blocked) return null;
  return `${3 - getSeverityRank(item.severity)}${item.regression ? 0 : 1}${item.created_at}`;
}

export const getPullRequestKey = (project: string, url: string): string => `${project} ${getPullRequestPage(url)}`;

function pullKeyOf({ project, status, review, pr_url, pr_fix_at }: State): string | null {
  const waits = review === 'open' || !isFinished(status);
  return waits && pr_url && pr_fix_at ? getPullRequestKey(project, pr_url) : null;
}

type Derived = Pick<ItemDoc, typeof BLIND_KIND | 'queue_key' | 'build_key' | 'severity_rank' | 'pr_key'>;

export function computeDerivedFields(item: State): Derived {
  const build = item.resolved_in_build;
  const pr_key = pullKeyOf(item);
  return {
    ...((pr_key !== null || item.pr_key) && { pr_key }),
    [BLIND_KIND]: getItemBlindKind(item),
    queue_key: queueKeyOf(item),
    build_key: build !== null && AWAITS_BUILD.has(item.status) ? buildKey(item.project, build) : null,
    severity_rank: getSeverityRank(item.severity),
  };
}
