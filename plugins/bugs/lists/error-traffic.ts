/**
 * Errors per ten minutes and project, for Home: reading the items would take too long. Counts wait
 * in memory for a second, so that intake needs no further write; a crash loses that second.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { KeyedCoalescedCache } from '../../../lib/caching/coalesced-cache.js';
import { iteratePages } from '../../../lib/paging.js';
import { addHashes, estimateDistinct, mergeSketches, type SketchHash } from '../../../lib/text/distinct-sketch.js';
import { DAY_MS, HOUR_MS, toIsoString } from '../../../lib/time.js';
import type { ErrorTraffic, ErrorTrafficQuery } from '../../../ports/domain/bugs.js';
import { removeAll } from '../../../ports/store/remove-all.js';
import { DEPS } from '../deps.js';
import type { Logger } from '../../../ports/logger.js';
import type { Clock } from '../../../ports/clock.js';
import type { TrafficDoc } from '../item/operation-documents.js';
import type { Collection } from '../../../ports/store/index.js';

const SLOT_MS = 10 * 60_000;
const SLOTS_PER_HOUR = HOUR_MS / SLOT_MS;
const FLUSH_INTERVAL_MS = 1_000;
/** A project's page shows 30 days. */
const RETENTION_MS = 31 * DAY_MS;
const MAX_ATTEMPTS = 20;
const PAGE_SIZE = 500;
const MAX_CACHED_READS = 200;
const CACHE_OPTIONS = { maxAgeMs: 2_000, quickMs: 10 };

interface PendingHour {
  project: string;
  hour: string;
  slots: Map<string, number>;
  people: SketchHash[];
}

@injectable()
export class ErrorTrafficService {
  #pending = new Map<string, PendingHour>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  /** Several parts of Home show one period. */
  readonly #readings = new KeyedCoalescedCache<ErrorTraffic>(MAX_CACHED_READS, {
    ...CACHE_OPTIONS,
    monotonic: () => this.clock.monotonic(),
  });

  constructor(
    @inject(DEPS.traffic) private readonly traffic: Collection<TrafficDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
  ) {}

  /** @param at when the error occurred, in ms; a clock that runs ahead counts as now */
  record(project: string, at: number, person: SketchHash | null): void {
    const now = this.clock.now();
    const counted = Math.min(at, now);
    if (counted < now - RETENTION_MS) return;
    const hour = toIsoString(Math.floor(counted / HOUR_MS) * HOUR_MS);
    const id = `${project} ${hour}`;
    const pending = this.#pending.get(id) ?? { project, hour, slots: new Map<string, number>(), people: [] };
    const slot = `slots.s${Math.floor((counted % HOUR_MS) / SLOT_MS)}`;
    pending.slots.set(slot, (pending.slots.get(slot) ?? 0) + 1);
    if (person !== null) pending.people.push(person);
    this.#pending.set(id, pending);
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_INTERVAL_MS).unref();
  }

  /** Resolves after everything recorded so far is stored. */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const hours = [...this.#pending];
    this.#pending = new Map();
    this.#writing = this.#writeAfter(this.#writing, hours);
    return this.#writing;
  }

  async #writeAfter(before: Promise<void>, hours: readonly (readonly [string, PendingHour])[]): Promise<void> {
    await before;
    for (const [id, pending] of hours) {
      try {
        await this.#writeHour(id, pending);
      } catch (err) {
        this.log.warn({ err, project: pending.project }, 'counting errors for Home failed');
      }
    }
  }

  getTraffic({ project, until, hours }: ErrorTrafficQuery): Promise<ErrorTraffic> {
    const last = Math.ceil(until / SLOT_MS);
    return this.#readings.get(`${project ?? ''} ${last} ${hours}`, () => this.#readTraffic(project, last, hours));
  }

  /** @param last interval after the last one, counted since 1970 */
  async #readTraffic(project: string | null, last: number, hours: number): Promise<ErrorTraffic> {
    await this.flush();
    const slots = hours * SLOTS_PER_HOUR;
    const first = last - slots;
    const hour = {
      gte: toIsoString(Math.floor((first * SLOT_MS) / HOUR_MS) * HOUR_MS),
      lt: toIsoString(last * SLOT_MS),
    };
    const filter = { hour, ...(project !== null && { project }) };
    const counts = Array.from({ length: slots }, () => 0);
    let people: string | null = null;
    let total = 0;
    for await (const docs of iteratePages(this.traffic, { filter, sort: [['hour', 'asc']], limit: PAGE_SIZE })) {
      for (const doc of docs) {
        people = mergeSketches(people, doc.people ?? null);
        const start = Date.parse(doc.hour) / SLOT_MS - first;
        for (const [key, n] of Object.entries(doc.slots ?? {})) {
          const at = start + Number(key.slice(1));
          if (at < 0 || at >= slots) continue;
          counts[at] = (counts[at] ?? 0) + n;
          total += n;
        }
      }
    }
    return { from: first * SLOT_MS, step: SLOT_MS, counts, total, users: estimateDistinct(people) };
  }

  async removeProject(project: string): Promise<void> {
    await this.flush();
    await removeAll(this.traffic, { project });
  }

  async deleteExpired(signal?: AbortSignal): Promise<void> {
    const hour = { lt: toIsoString(this.clock.now() - RETENTION_MS) };
    await removeAll(this.traffic, { hour }, signal);
  }

  async #writeHour(id: string, { project, hour, slots, people }: PendingHour): Promise<void> {
    const traffic = this.traffic;
    const update = { inc: Object.fromEntries(slots), setOnInsert: { project, hour } };
    const written = await traffic.change({ id }, update, { upsert: true });
    let known = written?.doc.people ?? null;
    for (let attempt = 0; people.length > 0 && attempt < MAX_ATTEMPTS; attempt++) {
      const joined = addHashes(known, people);
      if (joined === null || joined === known) return;
      if ((await traffic.change({ id, people: known }, { set: { people: joined } })) !== null) return;
      known = (await traffic.get(id))?.people ?? null;
    }
  }
}
