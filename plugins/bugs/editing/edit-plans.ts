import { invalid } from '../../../kernel/errors.js';
import { parseSeverity } from '../item/severity.js';
import type { Json } from '../../../ports/store/index.js';
import type { BugCaller } from '../caller.js';
import { createReasonRequiredError } from '../errors.js';
import {
  checkAboveFirstSeen,
  getFirstSeenBuild,
  isAtOrBelow,
  getLastSeenBuild,
  parseBuildName,
  resolveVersion,
  type PublishedReleases,
} from '../item/build-names.js';
import type { ChangeSet } from '../item/change-set.js';
import { isSameValue } from '../item/claim-rule.js';
import type { ItemEdit } from '../item/edit.js';
import type { ItemDoc } from '../item/model.js';
import { rebuildSearchText } from '../text/search-text.js';

const UNCHANGED_FIELDS = [
  'title',
  'type',
  'tags',
  'target_agent',
  'environment',
  'repo_url',
  'commit_sha',
  'file_path',
  'line_no',
  'push_id',
  'fix_commit',
  'pr_url',
  'pr_state',
  'assignee',
] as const;

/** No agent named `''` would ever claim the item. */
const BLANK_AS_NULL_FIELDS = [
  'target_agent',
  'environment',
  'repo_url',
  'commit_sha',
  'file_path',
  'push_id',
  'fix_commit',
  'pr_url',
  'assignee',
  'resolved_in_build',
] as const;

/** @throws ServiceError validation_failed for a `resolved_in_build` that names no build */
export function normalizeEdit(edit: ItemEdit): ItemEdit {
  const tidy = { ...edit };
  if (tidy.title !== undefined) tidy.title = tidy.title.trim();
  for (const field of BLANK_AS_NULL_FIELDS) if (tidy[field]?.trim() === '') tidy[field] = null;
  if (tidy.resolved_in_build) tidy.resolved_in_build = parseBuildName(tidy.resolved_in_build);
  return tidy;
}

export const getEditReason = (edit: ItemEdit): string | null => edit.reason?.trim() || null;

/**
 * A reason replaces the current one; with `force`, it explains the override.
 * @throws ServiceError reason_required
 */
export function planEditReason(item: ItemDoc, change: ChangeSet, edit: ItemEdit): void {
  if (edit.reason === undefined || edit.force === true || edit.hold !== undefined) return;
  const reason = getEditReason(edit);
  if (reason === item.reason) return;
  if (reason === null && change.next.status === 'wont_fix')
    throw createReasonRequiredError('The status wont_fix requires a `reason`.');
  change
    .addHistoryEntry('edited', { fields: ['reason'], changes: [{ field: 'reason', from: item.reason, to: reason }] })
    .assign({ reason });
}

/** A tool's text may copy untrusted text. */
export const updateTrustedFields = (
  trusted: readonly string[],
  fields: readonly string[],
  caller: BugCaller,
): string[] =>
  caller.by_tool === true ? trusted.filter((field) => !fields.includes(field)) : [...new Set([...trusted, ...fields])];

/** @throws ServiceError validation_failed for a change of the type `error`, or to it */
export function checkType(item: ItemDoc, edit: ItemEdit): void {
  if (item.type === 'error' && edit.type !== undefined)
    throw invalid({ type: 'the type of an item from the error stream must be error' });
}

/**
 * @param published releases that the build may name
 * @returns sentences for the response's `warnings`
 * @throws ServiceError validation_failed for a build in which the error was first seen
 */
export function buildWarnings(item: ItemDoc, edit: ItemEdit, published: PublishedReleases): string[] {
  const build = edit.resolved_in_build;
  if (!build || item.type === 'feature') return [];
  const version = resolveVersion(build, published);
  checkAboveFirstSeen(version, getFirstSeenBuild(item));
  if (!isAtOrBelow(version, getLastSeenBuild(item))) return [];
  return [`It was still seen in ${item.last_build}, so build ${build} does not close it automatically.`];
}

export function planFields(item: ItemDoc, change: ChangeSet, edit: ItemEdit, caller: BugCaller): void {
  const fields: string[] = UNCHANGED_FIELDS.filter(
    (field) => edit[field] !== undefined && !isSameValue(edit[field], item[field]),
  );
  for (const field of fields) change.assign({ [field]: edit[field as (typeof UNCHANGED_FIELDS)[number]] });
  if (edit.resolved_in_build !== undefined && !isSameValue(edit.resolved_in_build, item.resolved_in_build)) {
    fields.push('resolved_in_build');
    change.assign({ resolved_in_build: edit.resolved_in_build });
  }
  if (fields.length === 0) return;
  const shown = (value: unknown): Json =>
    typeof value === 'string' && value.length > 200 ? `${value.slice(0, 199)}…` : ((value ?? null) as Json);
  const changes = fields.map((field) => ({
    field,
    from: shown(item[field as keyof ItemDoc]),
    to: shown(edit[field as keyof ItemEdit]),
  }));
  change
    .addHistoryEntry('edited', { fields, changes })
    .assign({ trusted: updateTrustedFields(item.trusted, fields, caller) });
  if (fields.includes('title') || fields.includes('file_path'))
    change.assign({ search_text: rebuildSearchText(item, change.next) });
}

/** A user's change of severity locks it; an agent may be led by injected text. */
export function planSeverity(change: ChangeSet, edit: ItemEdit, caller: BugCaller): void {
  const to = parseSeverity(edit);
  const changed = to !== undefined && to !== change.next.severity;
  const locked = edit.severity_locked ?? (changed && caller.by_tool !== true ? true : change.next.severity_locked);
  if (locked !== change.next.severity_locked)
    change.assign({ severity_locked: locked }).addHistoryEntry(locked ? 'severity locked' : 'severity unlocked');
  if (changed) change.setSeverity(to, 'edited');
}
