/**
 * Undo by ordinary transitions, so history, events and leases behave as usual; the lease is not
 * restored.
 */
import { conflict } from '../../../kernel/errors.js';
import type { Item, ItemStatus } from '../../../ports/domain/bugs.js';
import { MINUTE_MS } from '../../../lib/time.js';
import type { BugCaller } from '../caller.js';
import type { EditService } from './edits.js';
import type { ActivityDoc, ItemDoc } from '../item/model.js';
import type { BulkRunDoc } from '../item/operation-documents.js';

type HistoryEntry = Pick<ActivityDoc, 'action' | 'actor' | 'at' | 'data'>;

const ENDED_STATUSES: readonly unknown[] = ['resolved', 'closed', 'wont_fix', 'duplicate'] satisfies ItemStatus[];

export const isFinishingChange = (set: { status?: unknown }): boolean => ENDED_STATUSES.includes(set.status);

export interface UndoableChange {
  from: ItemStatus;
  to: ItemStatus;
  at: string;
  until: string;
}

/**
 * @param activity newest first
 * @param name of the requesting account
 * @returns null unless the account made the latest change of status, which finished the item
 */
export function findLastFinishingChange(
  item: Pick<Item, 'status'>,
  activity: readonly HistoryEntry[],
  name: string,
): UndoableChange | null {
  const last = activity.find(({ action }) => action === 'status');
  if (last === undefined || last.actor !== name || !ENDED_STATUSES.includes(last.data['to'])) return null;
  if (last.data['to'] !== item.status) return null;
  return {
    from: last.data['from'] as ItemStatus,
    to: item.status,
    at: last.at,
    until: new Date(Date.parse(last.at) + MINUTE_MS).toISOString(),
  };
}

export function findUndoableChange(
  item: Pick<Item, 'status'>,
  activity: readonly HistoryEntry[],
  name: string,
  now: number,
): UndoableChange | null {
  const last = findLastFinishingChange(item, activity, name);
  return last === null || now > Date.parse(last.until) ? null : last;
}

/** Returns true for less than a minute. */
export function canUndoRun(
  { by, set, state, updated, finished_at, undo: back, undone_at }: BulkRunDoc,
  { id }: Pick<BugCaller, 'id'>,
  now: number,
): boolean {
  if (by.id !== id || state === 'running' || finished_at === null || back !== undefined || undone_at) return false;
  return updated > 0 && isFinishingChange(set) && now <= Date.parse(finished_at) + MINUTE_MS;
}

export const createUndoGoneError = (): Error =>
  conflict('Nothing to undo: the minute is over, or the item was changed meanwhile. Change its status instead.');

/** @throws ServiceError conflict when there is nothing left to undo, and the errors of an edit */
export async function undoLastChange(
  edits: Pick<EditService, 'edit'>,
  item: Pick<Item, 'id' | 'resolved_in_build'>,
  last: UndoableChange | null,
  caller: BugCaller,
): Promise<Item> {
  if (last === null) throw createUndoGoneError();
  const unchanged = (now: Pick<ItemDoc, 'status'>): void => {
    if (now.status !== last.to) throw createUndoGoneError();
  };
  const opened = await edits.edit(item.id, caller, { status: 'open' }, undefined, unchanged);
  if (last.from === 'needs_info') return edits.edit(item.id, caller, { status: 'needs_info' });
  if (last.from !== 'resolved') return opened;
  return edits.edit(item.id, caller, { status: 'resolved', resolved_in_build: item.resolved_in_build });
}
