/**
 * What the holder of a lease has not been told of its item (contract 20, leases: `news`): ids alone, since the item is
 * small; their texts are where comments and history are. The list is part of the lease, written with the change that it
 * tells of, so that neither a crash nor a call at the same moment loses an entry. Pure.
 */
import type { ItemOutboxEntry, Unread } from './model.js';

/** Entries that a lease remembers. */
const MOST = 50;
/** A comment is told itself, and of leases only their holders have to know. */
const UNTOLD: ReadonlySet<string> = new Set(['commented', 'claimed', 'reclaimed', 'renewed', 'created']);

/** The list with these entries; undefined: none of them is told. */
export function withUnread(
  unread: readonly Unread[] = [],
  entries: readonly ItemOutboxEntry[],
  person: boolean,
): Unread[] | undefined {
  const told = entries.flatMap(({ id, kind, name }): Unread[] =>
    kind === 'event' || UNTOLD.has(name) ? [] : [{ id, kind, ...(person && { person }) }],
  );
  return told.length === 0 ? undefined : [...unread, ...told].slice(-MOST);
}

/** Comments of people among them. */
export const ofPeople = (unread: readonly Unread[]): readonly Unread[] =>
  unread.filter(({ kind, person }) => kind === 'comment' && person === true);
