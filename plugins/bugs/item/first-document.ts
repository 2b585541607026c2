import { toIsoString } from '../../../lib/time.js';
import { getUrgency } from '../../../lib/urgency.js';
import type { ReportDetails, Report } from '../../../ports/domain/bugs.js';
import { findFirstFrame } from '../grouping/stack-trace.js';
import { buildSearchText, findTransaction, buildFullSearchText } from '../text/search-text.js';
import type { ItemDoc, TextsDoc } from './model.js';
import type { OccurrenceDoc } from './occurrence-documents.js';
import { formatReportedVersion } from './build-names.js';
import { toMinuteKey, toOccurrenceHourKey } from './occurrence-rate.js';
import { buildFirstMarks } from './place-marks.js';
import { getSeverityRank } from './severity.js';
import { UNTRUSTED_ITEM_FIELDS } from './api-views.js';
import { toSlotId } from './document-ids.js';
import { FAST_COUNT_KIND_FIELD } from './stored-field-names.js';
import type { SearchTextDoc } from './operation-documents.js';

export interface ReportTimes {
  now: number;
  occurred: number;
}

export const getLevelRank = (report: Report): number =>
  report.error_level ? getSeverityRank(getUrgency(report.error_level, report.environment)) : -1;

const formatRef = ({ project }: Report, number: number): string => `${project}-${number}`;

function buildItemSearchText(report: Report, ref: string, context: unknown): string {
  const { title, error_message, exception_class } = report;
  const { file_path } = resolveErrorLocation(report);
  return buildSearchText({
    ref,
    title,
    error_message,
    exception_class,
    file_path,
    transaction: findTransaction(context),
  });
}

function getBuildNumbers(report: Report): Pick<ItemDoc, 'first_numbered' | 'last_numbered'> {
  const numbered = formatReportedVersion(report) ?? undefined;
  return { first_numbered: numbered, last_numbered: numbered };
}

/** @param context of the report, for `q` */
export function buildItemDocument(
  report: Report,
  id: string,
  number: number,
  key: string,
  at: ReportTimes,
  context: unknown = null,
): ItemDoc {
  const now = toIsoString(at.now);
  const occurred = toIsoString(at.occurred);
  const version = report.app_version ?? null;
  const seen = buildFirstMarks(report);
  return {
    id,
    ref: formatRef(report, number),
    type: report.type,
    project: report.project,
    title: report.title,
    exception_class: report.exception_class ?? null,
    error_level: report.error_level ?? null,
    severity: report.severity,
    environment: report.environment ?? null,
    client_ref: report.client_ref ?? null,
    repo_url: report.repo_url ?? null,
    commit_sha: report.commit_sha ?? null,
    pr_url: report.pr_url ?? null,
    ...resolveErrorLocation(report),
    push_id: report.push_id ?? null,
    target_agent: report.target_agent ?? null,
    tags: [...(report.tags ?? [])],
    app_version: version,
    resolved_in_build: report.resolved_in_build ?? null,
    dedup_key: key,
    status: 'open',
    duplicate_of: null,
    reason: null,
    muted: Boolean(report.muted_by),
    muted_reason: report.muted_by?.reason ?? null,
    muted_by_rule_id: report.muted_by?.rule_id ?? null,
    hit_count: 1,
    first_seen_at: occurred,
    last_seen_at: occurred,
    first_build: version,
    last_build: version,
    ...(report.build_number && getBuildNumbers(report)),
    regression: false,
    regression_count: 0,
    regressed_at: null,
    regressed_in_build: null,
    late_count: 0,
    severity_locked: false,
    claim: null,
    claim_count: 0,
    source: report.source,
    reported_by: report.reported_by,
    created_at: now,
    updated_at: now,
    reopened_at: null,
    resolved_at: null,
    closed_at: null,
    rev: 1,
    trusted: report.source === 'ui' ? [...UNTRUSTED_ITEM_FIELDS] : [],
    expired_count: 0,
    severity_rank: getSeverityRank(report.severity),
    level_rank: getLevelRank(report),
    queue_key: null,
    build_key: null,
    search_text: buildItemSearchText(report, formatRef(report, number), context),
    minutes: { [toMinuteKey(at.now)]: 1 },
    hours: { [toOccurrenceHourKey(at.occurred, at.now)]: 1 },
    inflight: {},
    outbox: [],
    outbox_at: null,
    sent: { created: false, critical: false, resolved: false },
    version_marks: seen.version_marks,
    host_marks: seen.host_marks,
    sample_base: 0,
    sample_from: now,
    // Fields after a computed name are added slowly.
    [FAST_COUNT_KIND_FIELD]: null,
  };
}

export const buildTextsDocument = (report: Report, id: string): TextsDoc => ({
  id,
  description: report.description ?? null,
  error_message: report.error_message ?? null,
  stack_trace: report.stack_trace ?? null,
});

export function buildSearchTextDocument(
  { id, project, search_text }: ItemDoc,
  { description }: Report,
): SearchTextDoc | null {
  return description ? { id, project, text: buildFullSearchText(search_text, description, []), n: 1 } : null;
}

export function resolveErrorLocation({ file_path, line_no, stack_trace }: Report): {
  file_path: string | null;
  line_no: number | null;
} {
  const frame = !file_path && stack_trace ? findFirstFrame(stack_trace) : null;
  return { file_path: file_path ?? frame?.file ?? null, line_no: line_no ?? frame?.line_no ?? null };
}

export function buildOccurrenceDocument(
  report: Report,
  details: ReportDetails,
  itemId: string,
  slot: number,
  occurrenceId: string,
  at: ReportTimes & { key: string },
): OccurrenceDoc {
  return {
    id: toSlotId(itemId, slot),
    item_id: itemId,
    occurrence_id: occurrenceId,
    occurred_at: toIsoString(at.occurred),
    received_at: toIsoString(at.now),
    error_message: report.error_message ?? null,
    exception_class: report.exception_class ?? null,
    error_level: report.error_level ?? null,
    stack_trace: report.stack_trace ?? null,
    environment: report.environment ?? null,
    app_version: report.app_version ?? null,
    commit_sha: report.commit_sha ?? null,
    ...resolveErrorLocation(report),
    host: report.host ?? null,
    client_ref: report.client_ref ?? null,
    tags: [...(report.tags ?? [])],
    ...details,
    dedup_key: at.key,
    ...(report.function_name && { function_name: report.function_name }),
    ...(report.late && { late: { ...report.late, tries: 0 }, late_at: toIsoString(at.now) }),
  };
}
