import { getPullRequestPage } from '../../../lib/http/pull-request-page.js';
import { toBuildKey } from './build-names.js';
import type { ItemDoc } from './model.js';
import { getSeverityRank } from './severity.js';
import { FAST_COUNT_KIND_FIELD } from './stored-field-names.js';
import { PUBLISH_CLOSABLE_STATUSES, isFinished, REOPENABLE_STATUSES } from './transitions.js';

type DerivationSource = Pick<
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
  Partial<Pick<ItemDoc, 'held' | 'blocked' | 'pr_url' | 'pr_fix_at' | 'pr_key' | 'fix_key' | 'review'>>;

/** `n`, or `m:<rule>` if an ignore rule matched. */
export const getReportFastCountKind = (ruleId: string | null | undefined): string =>
  typeof ruleId === 'string' ? `m:${ruleId}` : 'n';

export function getItemFastCountKind(item: DerivationSource): string | null {
  if (item.status === 'duplicate') return null;
  if (item.type !== 'feature' && REOPENABLE_STATUSES.has(item.status)) return null;
  if (!item.muted && !item.sent.created) return null;
  return item.muted ? getReportFastCountKind(item.muted_by_rule_id) : 'n';
}

/** Returns the order: severity, regressions, then oldest (contract 20, leases). */
function computeQueueKey(item: DerivationSource): string | null {
  if (item.status !== 'open' || item.muted || item.held || item.blocked) return null;
  return `${3 - getSeverityRank(item.severity)}${item.regression ? 0 : 1}${item.created_at}`;
}

export const getPullRequestKey = (project: string, url: string): string => `${project} ${getPullRequestPage(url)}`;

function computePullRequestKey({ project, status, review, pr_url, pr_fix_at }: DerivationSource): string | null {
  const waits = review === 'open' || !isFinished(status);
  return waits && pr_url && pr_fix_at ? getPullRequestKey(project, pr_url) : null;
}

type DerivedFields = Pick<
  ItemDoc,
  typeof FAST_COUNT_KIND_FIELD | 'queue_key' | 'build_key' | 'fix_key' | 'severity_rank' | 'pr_key'
>;

export function computeDerivedFields(item: DerivationSource): DerivedFields {
  const build = item.resolved_in_build;
  const pr_key = computePullRequestKey(item);
  const fix_key = build === null ? null : toBuildKey(item.project, build);
  return {
    ...((pr_key !== null || item.pr_key) && { pr_key }),
    queue_key: computeQueueKey(item),
    ...((fix_key !== null || item.fix_key) && { fix_key }),
    build_key: PUBLISH_CLOSABLE_STATUSES.has(item.status) ? fix_key : null,
    severity_rank: getSeverityRank(item.severity),
    // Fields after a computed name are added slowly.
    [FAST_COUNT_KIND_FIELD]: getItemFastCountKind(item),
  };
}
