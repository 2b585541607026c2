/**
 * Errors are repeated in later updates, so troubled sessions are recorded in the store (contract
 * 21, release health). The record is written before the count: after a crash in between, an
 * unacknowledged session stays uncounted.
 */
import { createHash } from 'node:crypto';
import { collection, inject, injectable, PORT, type Clock } from '../../../kernel/contract/index.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { HOUR_MS } from '../../../lib/time.js';
import type { SessionCounts, SessionUpdate } from '../../../ports/domain/release-health.js';
import { StoreConflict, type Collection } from '../../../ports/store/index.js';
import { toHour, type TroubledDoc } from '../model.js';

/** Limit of stored notes per project and hour; beyond it, notes are only in memory. */
export const MAX_NOTES_PER_HOUR = 10_000;
const MAX_CACHED_SESSIONS = 50_000;
const SESSION_CACHE_MS = HOUR_MS;
const MAX_CACHED_PROJECTS = 10_000;

@injectable()
export class SessionDeduplicator {
  /** Counted sessions: `started`, and outcomes without a stored note. */
  readonly #counted: BoundedMap<true>;
  readonly #notes: BoundedMap<{ n: number }>;

  constructor(
    @inject(collection<TroubledDoc>('troubled')) private readonly troubledSessions: Collection<TroubledDoc>,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {
    const now = (): number => clock.now();
    this.#counted = new BoundedMap({ most: MAX_CACHED_SESSIONS, ttlMs: SESSION_CACHE_MS, now });
    this.#notes = new BoundedMap({ most: MAX_CACHED_PROJECTS, ttlMs: HOUR_MS, now });
  }

  /**
   * Returns the increments of this update; `errored` is subtracted when the session ended worse.
   */
  async countUpdate(project: string, { sid, first, outcome }: SessionUpdate): Promise<Partial<SessionCounts>> {
    const id = createHash('sha256').update(`${project}\u001f${sid}`).digest('hex').slice(0, 40);
    const started = first && this.#markCounted(`${id} started`) ? { started: 1 } : {};
    if (outcome === 'ok') return started;
    const noted = this.#canRecordTrouble(project)
      ? await this.#recordTrouble(id, outcome)
      : this.#remember(id, outcome);
    return { ...started, ...noted };
  }

  /** Call when the count was not written, so that a repeat counts. */
  forget(project: string, { sid }: SessionUpdate): void {
    const id = createHash('sha256').update(`${project}\u001f${sid}`).digest('hex').slice(0, 40);
    this.#counted.delete(`${id} started`);
  }

  async #recordTrouble(id: string, outcome: TroubledDoc['outcome']): Promise<Partial<SessionCounts>> {
    const at = this.clock.iso();
    try {
      await this.troubledSessions.insert({ id, outcome, at });
      return { [outcome]: 1 };
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
    }
    if (outcome === 'errored') return {};
    const worse = await this.troubledSessions.change({ id, outcome: 'errored' }, { set: { outcome, at } });
    return worse === null ? {} : { errored: -1, [outcome]: 1 };
  }

  #remember(id: string, outcome: TroubledDoc['outcome']): Partial<SessionCounts> {
    const errored = this.#markCounted(`${id} errored`);
    if (outcome === 'errored') return errored ? { errored: 1 } : {};
    if (!this.#markCounted(`${id} ended`)) return {};
    return errored ? { [outcome]: 1 } : { errored: -1, [outcome]: 1 };
  }

  #canRecordTrouble(project: string): boolean {
    const key = `${project} ${toHour(this.clock.now())}`;
    const noted = this.#notes.get(key);
    if (noted === undefined) this.#notes.set(key, { n: 1 });
    else noted.n++;
    return (noted?.n ?? 0) <= MAX_NOTES_PER_HOUR;
  }

  /** @returns true the first time */
  #markCounted(key: string): boolean {
    if (this.#counted.get(key) === true) return false;
    this.#counted.set(key, true);
    return true;
  }
}
