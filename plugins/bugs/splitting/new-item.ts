import { toErrorTitle } from '../../../lib/text/error-title.js';
import type { Ids } from '../../../ports/ids.js';
import type { Report } from '../../../ports/domain/bugs.js';
import { ChangeSet } from '../item/change-set.js';
import { buildItemDocument } from '../item/first-document.js';
import type { ItemDoc, TextsDoc } from '../item/model.js';
import type { OccurrenceDoc } from '../item/occurrence-documents.js';
import { buildMarks } from '../item/place-marks.js';
import { buildSearchText, findTransaction } from '../text/search-text.js';
import { UNFILED_CREATION_FIELD } from '../item/stored-field-names.js';
import type { GroupedOccurrence } from './grouped-occurrences.js';
import type { CounterShares } from './counter-shares.js';

export interface NewItemFields {
  id: string;
  n: number;
  key: string;
  title: string | null;
  trusted: boolean;
  actor: string;
  at: string;
}

const MAX_TITLE_LENGTH = 200;
const findOldest = (half: readonly GroupedOccurrence[]): OccurrenceDoc => (half[0] as GroupedOccurrence).doc;
const findNewest = (half: readonly GroupedOccurrence[]): OccurrenceDoc => (half.at(-1) as GroupedOccurrence).doc;

const getFirstSeen = (half: readonly GroupedOccurrence[]): string =>
  half.map(({ doc }) => doc.occurred_at).reduce((a, b) => (a < b ? a : b));
const getLastSeen = (half: readonly GroupedOccurrence[]): string =>
  half.map(({ doc }) => doc.occurred_at).reduce((a, b) => (a > b ? a : b));

function buildTitle({ exception_class, error_message }: OccurrenceDoc, old: string): string {
  return toErrorTitle(exception_class, error_message ?? '') || old;
}

function toReportFields(
  doc: OccurrenceDoc,
  title: string,
  ref: string,
): Partial<ItemDoc> & Pick<ItemDoc, 'search_text'> {
  return {
    title,
    exception_class: doc.exception_class,
    error_level: doc.error_level,
    environment: doc.environment,
    commit_sha: doc.commit_sha,
    file_path: doc.file_path,
    line_no: doc.line_no,
    app_version: doc.app_version,
    tags: doc.tags,
    search_text: buildSearchText({ ...doc, ref, title, transaction: findTransaction(doc.context) }),
  };
}

export function buildSplitItem(
  from: ItemDoc,
  leaves: readonly GroupedOccurrence[],
  { hits, minutes, hours, days }: CounterShares,
  { id, n, key, title: wanted, trusted, actor, at }: NewItemFields,
  ids: Ids,
): ItemDoc {
  const oldest = findOldest(leaves);
  const title = (wanted ?? buildTitle(oldest, from.title)).slice(0, MAX_TITLE_LENGTH);
  const report: Report = {
    type: from.type,
    project: from.project,
    title,
    severity: from.severity,
    source: from.source,
    reported_by: from.reported_by,
    error_message: oldest.error_message,
    muted_by: null,
  };
  const first = buildItemDocument(report, id, n, key, {
    now: Date.parse(at),
    occurred: Date.parse(oldest.occurred_at),
  });
  Object.assign(first, toReportFields(oldest, title, first.ref), {
    repo_url: from.repo_url,
    target_agent: from.target_agent,
    muted: from.muted,
    muted_reason: from.muted_reason,
    muted_by_rule_id: from.muted_by_rule_id,
    muted_until: from.muted_until ?? null,
    severity_locked: from.severity_locked,
    level_rank: from.level_rank,
    trusted: wanted !== null && trusted ? ['title'] : [],
    hit_count: hits,
    minutes,
    hours,
    days,
    first_seen_at: getFirstSeen(leaves),
    last_seen_at: getLastSeen(leaves),
    first_build: leaves.find(({ doc }) => doc.app_version !== null)?.doc.app_version ?? null,
    last_build: leaves.findLast(({ doc }) => doc.app_version !== null)?.doc.app_version ?? null,
    ...buildMarks(leaves.map(({ doc }) => doc)),
    sample_base: hits - leaves.length,
    split_from: from.id,
    [UNFILED_CREATION_FIELD]: actor,
  } satisfies Partial<ItemDoc>);
  const change = new ChangeSet(first, actor, at, ids);
  change.addHistoryEntry('split_from', { item_id: from.id, ref: from.ref, occurrences: leaves.length });
  change.emit(from.type === 'feature' ? 'feature.created' : 'bug.created');
  if (first.severity === 'critical') change.emit('bug.critical');
  return change.toDocument();
}

export const buildHalfTexts = (id: string, half: readonly GroupedOccurrence[]): TextsDoc => {
  const { error_message, stack_trace } = findOldest(half);
  return { id, description: null, error_message, stack_trace };
};

export interface RemainderChange {
  fields: Partial<ItemDoc>;
  texts: Pick<TextsDoc, 'error_message' | 'stack_trace'> | null;
}

/**
 * If the displayed report has left, selects another.
 * @param entry history entry of this split
 */
export function buildRemainder(
  item: ItemDoc,
  texts: TextsDoc | null,
  leaves: readonly GroupedOccurrence[],
  stays: readonly GroupedOccurrence[],
  entry: string,
): RemainderChange {
  const isShown = ({ doc }: GroupedOccurrence): boolean =>
    doc.error_message === (texts?.error_message ?? null) && doc.stack_trace === (texts?.stack_trace ?? null);
  const oldest = findOldest(stays);
  const seen: Partial<ItemDoc> = {
    parted: true,
    parted_by: entry,
    ...(item.first_seen_at >= getFirstSeen(leaves) && { first_seen_at: getFirstSeen(stays) }),
    ...(item.last_seen_at <= getLastSeen(leaves) && { last_seen_at: getLastSeen(stays) }),
    ...(findNewest(leaves).app_version === item.last_build && {
      last_build: stays.findLast(({ doc }) => doc.app_version !== null)?.doc.app_version ?? item.last_build,
    }),
    ...(findOldest(leaves).app_version === item.first_build && {
      first_build: stays.find(({ doc }) => doc.app_version !== null)?.doc.app_version ?? item.first_build,
    }),
  };
  if (!leaves.some(isShown) || stays.some(isShown)) return { fields: seen, texts: null };
  const title = item.trusted.includes('title') ? item.title : buildTitle(oldest, item.title);
  const { tags: _tags, ...shown } = toReportFields(oldest, title, item.ref);
  return {
    fields: { ...seen, ...shown },
    texts: { error_message: oldest.error_message, stack_trace: oldest.stack_trace },
  };
}
