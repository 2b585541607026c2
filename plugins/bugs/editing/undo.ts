/**
 * Takes back a change of status within a minute, by transitions that everybody may make, so history, events and leases
 * stay the same as for every other change. A lease does not come back.
 */
import { conflict } from '../../../kernel/errors.js';
import type { Item, ItemStatus } from '../../../ports/domain/bugs.js';
import { MINUTE_MS } from '../../../lib/time.js';
import type { BugCaller } from '../caller.js';
import type { Edits } from './edits.js';
import type { ActivityDoc, ItemDoc } from '../item/model.js';
import type { BulkRunDoc } from '../item/work-documents.js';

type Entry = Pick<ActivityDoc, 'action' | 'actor' | 'at' | 'data'>;

/** Statuses that end the work on an item. */
const ENDED: readonly unknown[] = ['resolved', 'closed', 'wont_fix', 'duplicate'] satisfies ItemStatus[];

/** Whether a change ends the work on an item; only that can be taken back. */
export const isFinishingChange = (set: { status?: unknown }): boolean => ENDED.includes(set.status);

export interface Undoable {
  from: ItemStatus;
  to: ItemStatus;
  at: string;
  /** The end of the minute. */
  until: string;
}

/**
 * The change that can be taken back.
 * @param activity newest first
 * @param name of the account that asks
 * @returns null when the newest change of status is not this account's, or ended nothing
 */
export function findLastFinish(item: Pick<Item, 'status'>, activity: readonly Entry[], name: string): Undoable | null {
  const last = activity.find(({ action }) => action === 'status');
  if (last === undefined || last.actor !== name || !ENDED.includes(last.data['to'])) return null;
  if (last.data['to'] !== item.status) return null;
  return {
    from: last.data['from'] as ItemStatus,
    to: item.status,
    at: last.at,
    until: new Date(Date.parse(last.at) + MINUTE_MS).toISOString(),
  };
}

/** As `findLastFinish`; null too when the change is over a minute old. */
export function findUndoable(
  item: Pick<Item, 'status'>,
  activity: readonly Entry[],
  name: string,
  now: number,
): Undoable | null {
  const last = findLastFinish(item, activity, name);
  return last === null || now > Date.parse(last.until) ? null : last;
}

/**
 * Whether this account can take back a change of many items now: it ended the work on items, less than a minute ago.
 */
export function runUndoable(
  { by, set, state, updated, finished_at, undo: back, undone_at }: BulkRunDoc,
  { id }: Pick<BugCaller, 'id'>,
  now: number,
): boolean {
  if (by.id !== id || state === 'running' || finished_at === null || back !== undefined || undone_at) return false;
  return updated > 0 && isFinishingChange(set) && now <= Date.parse(finished_at) + MINUTE_MS;
}

export const createUndoGoneError = (): Error =>
  conflict(
    'There is nothing to undo: the minute is over, or the item was changed meanwhile. Change its status instead.',
  );

/** @throws ServiceError conflict when there is nothing to undo any more, and what a change throws */
export async function undoLastChange(
  edits: Pick<Edits, 'edit'>,
  item: Pick<Item, 'id' | 'resolved_in_build'>,
  last: Undoable | null,
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
