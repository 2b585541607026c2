/** The items that `action=next` may give to a caller, as a filter of the store (contract 20, leases). Pure. */
import type { Filter } from '../../../ports/store.js';
import { SEVERITIES } from './severity.js';

/**
 * The only agent that the query asks for, if any: a caller that asks for this agent's items and gives no other name is
 * this agent.
 */
export const findSoleTarget = ({ target_agent: wanted }: Filter): string | null =>
  typeof wanted === 'string' ? wanted : null;

/** Narrows the query: an item with a `target_agent` goes only to this agent, whatever else the query asks for. */
export function filterByTarget(agent: string, { target_agent: wanted }: Filter): Filter {
  if (wanted === undefined) return { target_agent: { in: [null, agent] } };
  const names = typeof wanted === 'object' && wanted !== null && 'in' in wanted ? (wanted.in ?? []) : [wanted];
  return { target_agent: { in: names.includes(agent) ? [agent] : [] } };
}

/** Leaves out items that a person has taken, unless the query asks for their assignee or for an item by its ref. */
export function excludeAssigned({ assignee, ref, or }: Filter): Filter {
  const isAsked = assignee !== undefined || ref !== undefined || or?.some((one) => one['ref'] !== undefined) === true;
  return isAsked ? {} : { assignee: null };
}

/**
 * The range of the queue with the wanted severities, most urgent first: a caller that asks for low items does not read
 * past all the others (`queueKeyOf` in derived.ts puts the severity first).
 */
export function getQueueRange({ severity: wanted }: Filter): { gt: string; lt?: string } {
  const names = typeof wanted === 'object' && wanted !== null && 'in' in wanted ? (wanted.in ?? []) : [wanted];
  const places = SEVERITIES.toReversed().flatMap((severity, place) => (names.includes(severity) ? [place] : []));
  const [first] = places;
  return first === undefined ? { gt: '' } : { gt: String(first), lt: String((places.at(-1) ?? first) + 1) };
}

/** Items that this holder did not release within the last 24 hours, as alternatives. @param now RFC 3339 */
export const excludeReleasedBy = (holder: string, now: string): Filter[] => [
  { [`passed.${holder}`]: null },
  { [`passed.${holder}`]: { lte: now } },
];

/** The filter, narrowed to one of these alternatives; its own alternatives stay. */
export function narrowToAny({ or, ...filter }: Filter, alternatives: readonly Filter[]): Filter {
  const both = or === undefined ? alternatives : or.flatMap((a) => alternatives.map((b) => ({ ...a, ...b })));
  return { ...filter, or: both };
}
