/** Runs on demand, cached until the item changes (contract 20, endpoints). */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { DEPS } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import type { OccurrenceFacets } from './occurrence-facets.js';
import { StoredOccurrenceReader } from './stored-occurrences.js';
import type { Clock } from '../../../ports/clock.js';

export interface ValueCount {
  value: string;
  count: number;
}

export interface Spread {
  versions: ValueCount[];
  environments: ValueCount[];
  hosts: ValueCount[];
  browsers: ValueCount[];
  /** By the part before the first colon, otherwise `tag`. */
  tags: Record<string, ValueCount[]>;
}

const MAX_VALUES = 5;
const MAX_KEYS = 20;
const PLAIN_TAG_KEY = 'tag';
const MAX_CACHED_SPREADS = 1_000;

/** After which a payload, written after the count, is stored. */
const SETTLED_MS = 10_000;

type SpreadItem = Pick<ItemDoc, 'id' | 'hit_count' | 'last_seen_at' | 'parted'>;

@injectable()
export class SpreadService {
  readonly #known = new BoundedMap<{ hits: number; spread: Spread }>({ most: MAX_CACHED_SPREADS });

  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(StoredOccurrenceReader) private readonly storedOccurrences: StoredOccurrenceReader,
  ) {}

  async getSpread(item: SpreadItem): Promise<Spread> {
    const { id, hit_count: hits, last_seen_at } = item;
    const known = this.#known.get(id);
    if (known?.hits === hits) return known.spread;
    const spread = countSpread(await this.storedOccurrences.listPlaces(item));
    if (this.clock.now() - Date.parse(last_seen_at) > SETTLED_MS) this.#known.set(id, { hits, spread });
    return spread;
  }
}

export function countSpread(occurrences: readonly OccurrenceFacets[]): Spread {
  const tags = new Map<string, string[]>();
  for (const tag of occurrences.flatMap((occurrence) => [...new Set(occurrence.tags)])) {
    const colon = tag.indexOf(':');
    const [key, value] = colon < 1 ? [PLAIN_TAG_KEY, tag] : [tag.slice(0, colon), tag.slice(colon + 1)];
    const values = tags.get(key);
    if (values === undefined) tags.set(key, [value]);
    else values.push(value);
  }
  const frequent = [...tags].toSorted(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1)).slice(0, MAX_KEYS);
  return {
    versions: countValues(occurrences.map(({ app_version }) => app_version)),
    environments: countValues(occurrences.map(({ environment }) => environment)),
    hosts: countValues(occurrences.map(({ host }) => host)),
    browsers: countValues(occurrences.map(({ browser }) => browser)),
    // A key may be called `__proto__`.
    tags: Object.fromEntries(frequent.map(([key, values]) => [key, countValues(values)])),
  };
}

function countValues(values: readonly (string | null | undefined)[]): ValueCount[] {
  const counts = new Map<string, number>();
  for (const value of values) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, MAX_VALUES);
}
