/**
 * The lease stores ids only, written with the change, so a crash or a concurrent call loses none
 * (contract 20, leases: `news`).
 */
import type { ItemOutboxEntry, UnreadEntry } from './model.js';

const MAX_UNREAD_ENTRIES = 50;
/** Comments are reported separately, and lease entries concern only their holder. */
const EXCLUDED_ENTRY_NAMES: ReadonlySet<string> = new Set(['commented', 'claimed', 'reclaimed', 'renewed', 'created']);

/** Undefined when none is reportable. */
export function addUnread(
  unread: readonly UnreadEntry[] = [],
  entries: readonly ItemOutboxEntry[],
  person: boolean,
): UnreadEntry[] | undefined {
  const newEntries = entries.flatMap(({ id, kind, name }): UnreadEntry[] =>
    kind === 'event' || EXCLUDED_ENTRY_NAMES.has(name) ? [] : [{ id, kind, ...(person && { person }) }],
  );
  return newEntries.length === 0 ? undefined : mergeUnread(unread, newEntries);
}

export const mergeUnread = (unread: readonly UnreadEntry[] = [], more: readonly UnreadEntry[]): UnreadEntry[] =>
  [...unread, ...more].slice(-MAX_UNREAD_ENTRIES);

export const listHumanComments = (unread: readonly UnreadEntry[]): readonly UnreadEntry[] =>
  unread.filter(({ kind, person, shown }) => kind === 'comment' && person === true && shown !== true);
