/**
 * Public keys may send any version, so unvouched versions are limited and the rest is counted
 * together. Published versions, and those reported by private tokens, always have their own rows
 * (contract 21, Amendments); otherwise an attacker could hide a bad rollout.
 */
import { createHash } from 'node:crypto';
import { collection, inject, injectable, PORT, token, type Clock } from '../../../kernel/contract/index.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { iterateItems } from '../../../lib/paging.js';
import { DAY_MS, MINUTE_MS } from '../../../lib/time.js';
import type { PublishedVersions } from '../../../ports/domain/releases.js';
import type { Collection } from '../../../ports/store/index.js';
import type { HourDoc } from '../model.js';
import type { HourSeries } from './hour-count-writer.js';

/** Looks up published versions; undefined when unavailable. */
export const FIND_PUBLISHED = token<() => PublishedVersions | undefined>('releasehealth.published');

export const MAX_SERIES = 100;
/** The rest is counted without environment. */
export const MAX_ENVIRONMENTS = 20;
const READ_BATCH_ROWS = 500;
const MAX_CACHED_ENTRIES = 5_000;

type SeriesFields = Omit<HourSeries, 'id'>;

class HourSeriesIndex {
  readonly ids = new Set<string>();
  unvouchedCount = 0;
  readonly #environments = new Map<string, number>();

  add(id: string, { version, version_key }: Pick<SeriesFields, 'version' | 'version_key'>, vouched: boolean): void {
    this.ids.add(id);
    if (!vouched && version !== '') this.unvouchedCount += 1;
    this.#environments.set(version_key, this.countEnvironments(version_key) + 1);
  }

  countEnvironments(versionKey: string): number {
    return this.#environments.get(versionKey) ?? 0;
  }
}

@injectable()
export class SeriesLimiter {
  readonly #hours: BoundedMap<Promise<HourSeriesIndex>>;
  readonly #vouched: BoundedMap<Promise<boolean>>;

  constructor(
    @inject(collection<HourDoc>('hours')) private readonly hours: Collection<HourDoc>,
    @inject(PORT.clock) clock: Clock,
    @inject(FIND_PUBLISHED) private readonly published: () => PublishedVersions | undefined,
  ) {
    const now = (): number => clock.now();
    this.#hours = new BoundedMap({ most: MAX_CACHED_ENTRIES, ttlMs: DAY_MS, now });
    this.#vouched = new BoundedMap({ most: MAX_CACHED_ENTRIES, ttlMs: MINUTE_MS, now });
  }

  /** @param byToken whether a token other than an intake key reports them */
  async resolveSeries(about: SeriesFields, byToken: boolean): Promise<HourSeries> {
    const hour = await this.#loadHour(about);
    const id = buildSeriesId(about);
    if (hour.ids.has(id)) return { id, ...about };
    const vouched = byToken || (await this.#isVouched(about));
    if (hour.ids.has(id)) return { id, ...about };
    const isFull = vouched
      ? !byToken && hour.countEnvironments(about.version_key) >= MAX_ENVIRONMENTS
      : hour.unvouchedCount >= MAX_SERIES;
    if (isFull)
      return toOtherVersions(vouched ? { ...about, environment: '' } : { ...about, ...OTHER_VERSIONS_SERIES });
    hour.add(id, about, vouched);
    return { id, ...about, ...(vouched && { vouched: 1 }) };
  }

  #isVouched({ project, version, version_key }: SeriesFields): Promise<boolean> {
    return this.#getOrLoad(this.#vouched, `${project} ${version_key}`, async () => {
      if ((await this.published()?.isPublished(project, version)) === true) return true;
      const filter = { project, version_key, vouched: 1 };
      return (await this.hours.find({ filter, limit: 1 })).items.length > 0;
    });
  }

  #loadHour({ project, hour }: SeriesFields): Promise<HourSeriesIndex> {
    return this.#getOrLoad(this.#hours, `${project} ${hour}`, async () => {
      const found = new HourSeriesIndex();
      for await (const doc of iterateItems(this.hours, { filter: { project, hour }, limit: READ_BATCH_ROWS }))
        found.add(doc.id, doc, doc.vouched === 1);
      return found;
    });
  }

  #getOrLoad<T>(answers: BoundedMap<Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
    const known = answers.get(key);
    if (known !== undefined) return known;
    const pendingAnswer = ask();
    answers.set(key, pendingAnswer);
    pendingAnswer.catch(() => answers.delete(key));
    return pendingAnswer;
  }
}

const OTHER_VERSIONS_SERIES = { version: '', version_key: '', environment: '' };

const toOtherVersions = (about: SeriesFields): HourSeries => ({ id: buildSeriesId(about), ...about });

const buildSeriesId = ({ project, version_key, environment, hour }: SeriesFields): string =>
  createHash('sha256').update([project, version_key, environment, hour].join('\u001f')).digest('hex').slice(0, 40);
