/** Items for `action=next` (contract 20, leases). */
import type { Filter } from '../../../ports/store/index.js';
import { SEVERITIES } from './severity.js';

/** A caller without a name that requests this agent's items is taken to be this agent. */
export const findSoleTarget = ({ target_agent: wanted }: Filter): string | null =>
  typeof wanted === 'string' ? wanted : null;

export function filterByTarget(agent: string, { target_agent: wanted }: Filter): Filter {
  if (wanted === undefined) return { target_agent: { in: [null, agent] } };
  const names = typeof wanted === 'object' && wanted !== null && 'in' in wanted ? (wanted.in ?? []) : [wanted];
  return { target_agent: { in: names.includes(agent) ? [agent] : [] } };
}

/** Unless the query names an assignee or a ref. */
export function excludeAssigned({ assignee, ref, or }: Filter): Filter {
  const isAsked = assignee !== undefined || ref !== undefined || or?.some((one) => one['ref'] !== undefined) === true;
  return isAsked ? {} : { assignee: null };
}

/**
 * Most urgent first. `computeQueueKey` (derived-fields.ts) starts with the severity, so a query for
 * low items skips all others.
 */
export function getQueueRange({ severity: wanted }: Filter): { gt: string; lt?: string } {
  const names = typeof wanted === 'object' && wanted !== null && 'in' in wanted ? (wanted.in ?? []) : [wanted];
  const places = SEVERITIES.toReversed().flatMap((severity, place) => (names.includes(severity) ? [place] : []));
  const [first] = places;
  return first === undefined ? { gt: '' } : { gt: String(first), lt: String((places.at(-1) ?? first) + 1) };
}

/**
 * Excludes releases within the last 24 hours.
 * @param now RFC 3339
 */
export const excludeReleasedBy = (holder: string, now: string): Filter[] => [
  { [`passed.${holder}`]: null },
  { [`passed.${holder}`]: { lte: now } },
];

export function narrowToAny({ or, ...filter }: Filter, alternatives: readonly Filter[]): Filter {
  const both = or === undefined ? alternatives : or.flatMap((a) => alternatives.map((b) => ({ ...a, ...b })));
  return { ...filter, or: both };
}
