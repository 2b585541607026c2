/**
 * News of an item that the holder of its lease has not been told (contract 20, leases: `news`): only ids, since the
 * item is small; their texts are among comments and history. The list is part of the lease, written with the change
 * that it tells of, so neither a crash nor a simultaneous call loses an entry. Pure.
 */
import type { ItemOutboxEntry, Unread } from './model.js';

/** Entries that a lease remembers. */
const MAX_UNREAD_ENTRIES = 50;
/** Entries that are not told: a comment is told itself, and lease entries concern only their holders. */
const UNTOLD: ReadonlySet<string> = new Set(['commented', 'claimed', 'reclaimed', 'renewed', 'created']);

/** The list with these entries; undefined when none of them is told. */
export function addUnread(
  unread: readonly Unread[] = [],
  entries: readonly ItemOutboxEntry[],
  person: boolean,
): Unread[] | undefined {
  const told = entries.flatMap(({ id, kind, name }): Unread[] =>
    kind === 'event' || UNTOLD.has(name) ? [] : [{ id, kind, ...(person && { person }) }],
  );
  return told.length === 0 ? undefined : mergeUnread(unread, told);
}

export const mergeUnread = (unread: readonly Unread[] = [], more: readonly Unread[]): Unread[] =>
  [...unread, ...more].slice(-MAX_UNREAD_ENTRIES);

/** The comments of people that were in no answer yet. */
export const listHumanComments = (unread: readonly Unread[]): readonly Unread[] =>
  unread.filter(({ kind, person, shown }) => kind === 'comment' && person === true && shown !== true);
