/** Missing fields become null (contract 20, item fields). */
import type { Claim, ErrorGroup, Item } from '../../../ports/domain/bugs.js';
import { hasQuote } from '../text/comment-quotes.js';
import type { ActivityDoc, CommentDoc, ItemDoc, ClaimLease, TextsDoc } from './model.js';
import type { OccurrenceDoc } from './occurrence-documents.js';
import { countLastHour, listHourlyCounts } from './occurrence-rate.js';

/** Data, never instructions to an agent (contract 20, untrusted text). */
export const UNTRUSTED_ITEM_FIELDS: readonly (keyof Item)[] = [
  'title',
  'description',
  'error_message',
  'stack_trace',
  'exception_class',
  'environment',
  'client_ref',
  'repo_url',
  'commit_sha',
  'fix_commit',
  'pr_url',
  'file_path',
  'push_id',
  'target_agent',
  'tags',
  'app_version',
  'resolved_in_build',
  'first_build',
  'last_build',
  'regressed_in_build',
  'reason',
  'hold_reason',
  'muted_reason',
];

export const MAX_LEASE_EXPIRIES = 5;

export const isLeaseLive = (lease: ClaimLease | null, now: number): lease is ClaimLease =>
  lease !== null && Date.parse(lease.expires_at) > now;

export const isHeld = ({ held }: Pick<ItemDoc, 'held'>): boolean => held !== undefined && held !== null;

export const isBlocked = ({ blocked }: Pick<ItemDoc, 'blocked'>): boolean => blocked !== undefined && blocked !== null;

const toClaimView = (lease: ClaimLease): Claim => ({
  agent: lease.agent,
  claimed_at: lease.claimed_at,
  expires_at: lease.expires_at,
  renewals: lease.renewals,
  ...(lease.note !== undefined && { note: lease.note }),
  ...(lease.tokens !== undefined && { tokens: lease.tokens }),
});

/** An expired lease does not count, even before its end is written. */
export function getStatusAt(item: ItemDoc, now: number): ItemDoc['status'] {
  if (item.status !== 'in_progress' || isLeaseLive(item.claim, now)) return item.status;
  return item.expired_count + 1 >= MAX_LEASE_EXPIRIES ? 'needs_info' : 'open';
}

/** @param texts without them, the long texts are null */
export function toItemView(item: ItemDoc, texts: TextsDoc | null, now: number): Item {
  const view: Item = {
    id: item.id,
    ref: item.ref,
    type: item.type,
    project: item.project,
    title: item.title,
    description: texts?.description ?? null,
    error_message: texts?.error_message ?? null,
    stack_trace: texts?.stack_trace ?? null,
    exception_class: item.exception_class ?? null,
    error_level: item.error_level ?? null,
    severity: item.severity,
    urgency: item.severity,
    environment: item.environment ?? null,
    client_ref: item.client_ref ?? null,
    repo_url: item.repo_url ?? null,
    commit_sha: item.commit_sha ?? null,
    fix_commit: item.fix_commit ?? null,
    pr_url: item.pr_url ?? null,
    pr_state: item.pr_state ?? null,
    review: item.review ?? null,
    file_path: item.file_path ?? null,
    line_no: item.line_no ?? null,
    push_id: item.push_id ?? null,
    target_agent: item.target_agent ?? null,
    assignee: item.assignee ?? null,
    tags: item.tags,
    app_version: item.app_version ?? null,
    resolved_in_build: item.resolved_in_build ?? null,
    dedup_key: item.dedup_key,
    status: getStatusAt(item, now),
    duplicate_of: item.duplicate_of ?? null,
    reason: item.reason ?? null,
    hold: isHeld(item),
    hold_reason: item.held?.reason ?? null,
    blocked: isBlocked(item),
    muted: item.muted,
    muted_reason: item.muted_reason ?? null,
    muted_by_rule_id: item.muted_by_rule_id ?? null,
    hit_count: item.hit_count,
    hour_count: countLastHour(item.minutes, now),
    people: item.people ?? null,
    first_seen_at: item.first_seen_at,
    last_seen_at: item.last_seen_at,
    first_build: item.first_build ?? null,
    last_build: item.last_build ?? null,
    regression: item.regression,
    regression_count: item.regression_count,
    regressed_at: item.regressed_at ?? null,
    regressed_in_build: item.regressed_in_build ?? null,
    late_count: item.late_count,
    flooded_count: item.flooded ?? 0,
    severity_locked: item.severity_locked,
    claim: isLeaseLive(item.claim, now) ? toClaimView(item.claim) : null,
    claim_count: item.claim_count,
    source: item.source,
    created_at: item.created_at,
    updated_at: item.updated_at,
    reopened_at: item.reopened_at ?? null,
    resolved_at: item.resolved_at ?? null,
    closed_at: item.closed_at ?? null,
    rev: item.rev,
    untrusted_fields: [],
  };
  view.untrusted_fields = UNTRUSTED_ITEM_FIELDS.filter((field) => {
    const value = view[field];
    return isFilled(value) && !item.trusted.includes(field);
  });
  if (view.claim !== null) view.untrusted_fields.push('claim.agent');
  if (view.claim?.note !== undefined) view.untrusted_fields.push('claim.note');
  return view;
}

export function toGroupView(item: ItemDoc, now: number): ErrorGroup {
  // A spread would give each row a hidden class (decision 020).
  const view: Item & { trend?: number[]; muted_until?: string | null } = toItemView(item, null, now);
  view.trend = listHourlyCounts(item.hours, now);
  view.muted_until = item.muted_until ?? null;
  return view as ErrorGroup;
}

/** All but ids, times, level and line. */
const UNTRUSTED_OCCURRENCE_FIELDS = [
  'error_message',
  'exception_class',
  'stack_trace',
  'environment',
  'app_version',
  'commit_sha',
  'file_path',
  'host',
  'client_ref',
  'tags',
  'context',
  'breadcrumbs',
] as const satisfies readonly (keyof OccurrenceDoc)[];

const isFilled = (value: unknown): boolean =>
  value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);

export function toOccurrenceView(doc: OccurrenceDoc): object {
  return {
    id: doc.occurrence_id,
    occurred_at: doc.occurred_at,
    received_at: doc.received_at,
    error_message: doc.error_message ?? null,
    exception_class: doc.exception_class ?? null,
    error_level: doc.error_level ?? null,
    stack_trace: doc.stack_trace ?? null,
    environment: doc.environment ?? null,
    app_version: doc.app_version ?? null,
    commit_sha: doc.commit_sha ?? null,
    file_path: doc.file_path ?? null,
    line_no: doc.line_no ?? null,
    host: doc.host ?? null,
    client_ref: doc.client_ref ?? null,
    tags: doc.tags,
    context: doc.context ?? null,
    breadcrumbs: doc.breadcrumbs ?? null,
    untrusted_fields: UNTRUSTED_OCCURRENCE_FIELDS.filter((field) => isFilled(doc[field])),
  };
}

/**
 * Agents may copy text and token names are arbitrary, so both are untrusted; a user's text only
 * where it quotes.
 */
export const toCommentView = ({
  id,
  body,
  author,
  agent,
  author_kind = 'integration',
  created_at,
}: CommentDoc): object => ({
  id,
  body,
  author,
  ...(agent !== undefined && { agent }),
  author_kind,
  created_at,
  untrusted_fields:
    author_kind !== 'person'
      ? ['body', 'author', ...(agent === undefined ? [] : ['agent'])]
      : hasQuote(body)
        ? ['body']
        : [],
});

/** Written only by the service, in addition to `from` and `to` of a status or severity. */
const TRUSTED_DATA_KEYS: ReadonlySet<string> = new Set([
  'why',
  'by',
  'fields',
  'comment_id',
  'rule_id',
  'expires_at',
  'source',
]);
const TRUSTED_CHANGE_FIELDS: ReadonlySet<string> = new Set(['status', 'severity']);

export function toActivityView({ id, at, action, actor, agent, data }: ActivityDoc): object {
  const own = (name: string): boolean =>
    TRUSTED_DATA_KEYS.has(name) || (TRUSTED_CHANGE_FIELDS.has(action) && (name === 'from' || name === 'to'));
  const outside = Object.entries(data)
    .filter(([name, value]) => !own(name) && typeof value !== 'number' && typeof value !== 'boolean' && isFilled(value))
    .map(([name]) => `data.${name}`);
  if (agent === undefined) return { id, at, action, actor, data, untrusted_fields: ['actor', ...outside] };
  return { id, at, action, actor, agent, data, untrusted_fields: ['actor', 'agent', ...outside] };
}
