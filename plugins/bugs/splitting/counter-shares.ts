/**
 * Exact while every occurrence is stored; otherwise the stored ones are a fair sample (contract 21,
 * occurrences), and counters are divided proportionally.
 */
import { DAY_MS } from '../../../lib/time.js';
import type { ItemDoc } from '../item/model.js';
import { toMinuteKey, toOccurrenceHourKey } from '../item/occurrence-rate.js';
import type { SplitHalves } from './split-halves.js';

export interface CounterShares {
  hits: number;
  estimated: boolean;
  minutes: Record<string, number>;
  hours: Record<string, number>;
  days: Record<string, number>;
}

type ItemCounters = Pick<ItemDoc, 'hit_count' | 'minutes' | 'hours' | 'days'>;

const getHourKey = ({ doc }: SplitHalves['leaves'][number]): string =>
  toOccurrenceHourKey(Date.parse(doc.occurred_at), Date.parse(doc.received_at));

export function computeShares(
  { hit_count, minutes, hours, days = {} }: ItemCounters,
  { leaves, stays }: SplitHalves,
): CounterShares {
  const storedCount = leaves.length + stays.length;
  const estimated = hit_count > storedCount;
  const share = leaves.length / storedCount;
  const hits = estimated
    ? Math.min(Math.max(Math.round(hit_count * share), leaves.length), hit_count - stays.length)
    : Math.min(leaves.length, hit_count - 1);
  const part = (
    counters: Record<string, number>,
    keyOf: (one: SplitHalves['leaves'][number]) => string,
    of = leaves,
  ): Record<string, number> => {
    const seen = new Map<string, number>();
    for (const one of of) {
      const key = keyOf(one);
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
    const entries = Object.entries(counters).map(([key, n]): [string, number] => [
      key,
      estimated ? Math.floor(n * share) : Math.min(n, seen.get(key) ?? 0),
    ]);
    return Object.fromEntries(entries.filter(([, n]) => n > 0));
  };
  return {
    hits,
    estimated,
    minutes: part(minutes, ({ doc }) => toMinuteKey(Date.parse(doc.received_at))),
    hours: part(hours, getHourKey),
    // Only hours that are no longer stored.
    days: part(
      days,
      ({ doc }) => `d${Math.floor(Date.parse(doc.occurred_at) / DAY_MS)}`,
      leaves.filter((one) => hours[getHourKey(one)] === undefined),
    ),
  };
}

export function buildShareDecrements({ hits, minutes, hours, days }: CounterShares): Record<string, number> {
  const of = (name: string, counters: Record<string, number>): [string, number][] =>
    Object.entries(counters).map(([key, n]) => [`${name}.${key}`, -n]);
  return Object.fromEntries([
    ['hit_count', -hits],
    ['sample_base', -hits],
    ...of('minutes', minutes),
    ...of('hours', hours),
    ...of('days', days),
  ]);
}
