/**
 * Which versions and environments an hour of a project has: a public key may name as many as it likes, so what comes
 * beyond a bound is counted together. Every process looks once per hour at what the others count already; in the moment
 * of several processes at the bound there may be a few more.
 */
import { createHash } from 'node:crypto';
import { collection, inject, injectable, PORT, type Clock } from '../../../kernel/contract.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { DAY_MS } from '../../../lib/time.js';
import type { Collection } from '../../../ports/store.js';
import type { HourDoc } from '../model.js';
import type { HourSeries } from './hour-counts.js';

/** Versions and environments of one project in one hour. */
export const MOST_SERIES = 100;
/** Hours of projects that are known at a time. */
const KEPT = 5_000;

type About = Omit<HourSeries, 'id'>;

@injectable()
export class SeriesBook {
  readonly #known: BoundedMap<Promise<Set<string>>>;

  constructor(
    @inject(collection<HourDoc>('hours')) private readonly hours: Collection<HourDoc>,
    @inject(PORT.clock) clock: Clock,
  ) {
    this.#known = new BoundedMap({ most: KEPT, ttlMs: DAY_MS, now: () => clock.now() });
  }

  async of(about: About): Promise<HourSeries> {
    const known = await this.#idsOf(about);
    const id = idOf(about);
    if (known.has(id)) return { id, ...about };
    if (known.size < MOST_SERIES) {
      known.add(id);
      return { id, ...about };
    }
    const others = { ...about, version: '', version_key: '', environment: '' };
    return { id: idOf(others), ...others };
  }

  #idsOf({ project, hour }: About): Promise<Set<string>> {
    const key = `${project} ${hour}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const read = this.hours
      .find({ filter: { project, hour }, limit: MOST_SERIES })
      .then(({ items }) => new Set(items.map(({ id }) => id)));
    this.#known.set(key, read);
    read.catch(() => this.#known.delete(key));
    return read;
  }
}

const idOf = ({ project, version_key, environment, hour }: About): string =>
  createHash('sha256').update([project, version_key, environment, hour].join('\u001f')).digest('hex').slice(0, 40);
