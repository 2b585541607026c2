/** Which stored occurrences changed rules match, and where later reports would be counted. */
import { toErrorTitle } from '../../../lib/text/error-title.js';
import type { RuleOutcome } from '../grouping-rules/compiled-rule.js';
import type { ItemDoc } from '../item/model.js';
import type { OccurrenceDoc } from '../item/occurrence-documents.js';

/** With the keys of later reports like it, before and after. */
export interface TriedOccurrence {
  item: Pick<ItemDoc, 'id' | 'ref' | 'title'>;
  doc: OccurrenceDoc;
  origin: string;
  before: string;
  after: string;
  ruling: RuleOutcome | null;
}

export interface GroupSummary {
  ref: string;
  title: string;
}

export interface TrialDestination {
  /** Null for a new group. */
  group: GroupSummary | null;
  title: string | null;
  fingerprint: string[] | null;
  occurrences: number;
  from: (GroupSummary & { occurrences: number })[];
}

export interface TrialSample extends GroupSummary {
  id: string;
  occurred_at: string;
  error_message: string | null;
  exception_class: string | null;
  origin: string | null;
  fingerprint: string[] | null;
  new_title: string | null;
  untrusted_fields: string[];
}

export interface TrialEffect {
  fits: number;
  samples: TrialSample[];
  destinations: TrialDestination[];
  more_destinations: number;
  joined: number;
  split: number;
}

const MAX_SAMPLES = 20;
const MAX_DESTINATIONS = 20;
const MAX_SOURCES = 20;
const MAX_MESSAGE_LENGTH = 300;

export function computeTrialEffect(
  tried: readonly TriedOccurrence[],
  ruleId: string,
  leads: ReadonlyMap<string, GroupSummary & { id: string }>,
): TrialEffect {
  const fitting = tried.filter(({ ruling }) => ruling?.rule_id === ruleId);
  const moved = tried.filter(
    ({ before, after, item }) => before !== after && (leads.get(after)?.id ?? null) !== item.id,
  );
  const byKey = groupBy(moved, ({ after }) => after);
  const destinations = [...byKey]
    .map(([key, occurrences]) => buildDestination(occurrences, leads.get(key) ?? null))
    .toSorted((a, b) => b.occurrences - a.occurrences);
  const joined = [...byKey].filter(([key, occurrences]) => {
    const ids = new Set(occurrences.map(({ item }) => item.id));
    const there = leads.get(key);
    return ids.size + (there === undefined ? 0 : 1) > 1;
  }).length;
  const movedSet = new Set(moved);
  const split = [...groupBy(tried, ({ item }) => item.id).values()].filter(
    (all) => new Set(all.map((one) => (movedSet.has(one) ? one.after : ''))).size > 1,
  ).length;
  return {
    fits: fitting.length,
    samples: fitting.slice(0, MAX_SAMPLES).map(toSample),
    destinations: destinations.slice(0, MAX_DESTINATIONS),
    more_destinations: Math.max(0, destinations.length - MAX_DESTINATIONS),
    joined,
    split,
  };
}

function groupBy<T>(all: readonly T[], nameOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const name = nameOf(one);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  return groups;
}

function buildDestination(occurrences: readonly TriedOccurrence[], group: GroupSummary | null): TrialDestination {
  const first = occurrences[0] as TriedOccurrence;
  const sources = [...groupBy(occurrences, ({ item }) => item.id).values()]
    .map((own) => Object.assign(toGroupSummary(own[0] as TriedOccurrence), { occurrences: own.length }))
    .toSorted((a, b) => b.occurrences - a.occurrences);
  return {
    group: group && { ref: group.ref, title: group.title },
    title: group === null ? (first.ruling?.title ?? getOwnTitle(first)) : null,
    fingerprint: first.ruling?.fingerprint ?? null,
    occurrences: occurrences.length,
    from: sources.slice(0, MAX_SOURCES),
  };
}

const toGroupSummary = ({ item: { ref, title } }: TriedOccurrence): GroupSummary => ({ ref, title });

const getOwnTitle = ({ doc, item }: TriedOccurrence): string =>
  doc.error_message ? toErrorTitle(doc.exception_class, doc.error_message) : item.title;

const toSample = (tried: TriedOccurrence): TrialSample => {
  const { doc, origin, ruling } = tried;
  return {
    ...toGroupSummary(tried),
    id: doc.occurrence_id,
    occurred_at: doc.occurred_at,
    error_message: doc.error_message?.slice(0, MAX_MESSAGE_LENGTH) ?? null,
    exception_class: doc.exception_class,
    origin: origin || null,
    fingerprint: ruling?.fingerprint ?? null,
    new_title: ruling?.title ?? null,
    untrusted_fields: ['title', 'error_message', 'exception_class', 'origin', 'fingerprint', 'new_title'],
  };
};
