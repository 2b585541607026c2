/**
 * Increments that arrive during a write share the next one, so thousands of sessions need few
 * writes. Each is answered after its commit, so a crash loses nothing acknowledged.
 */
import { collection, inject, injectable } from '../../../kernel/contract/index.js';
import { conflict } from '../../../kernel/errors.js';
import { addHashes } from '../../../lib/text/distinct-sketch.js';
import type { Collection } from '../../../ports/store/index.js';
import type { HourDoc } from '../model.js';
import { createEmptyDelta, mergeDelta, buildUpdate, type HourDelta } from './hour-delta.js';

export type HourSeries = Pick<
  HourDoc,
  'id' | 'project' | 'version' | 'version_key' | 'environment' | 'hour' | 'vouched'
>;

interface DeltaBatch {
  delta: HourDelta;
  done: Promise<void>;
}

const MAX_WRITE_ATTEMPTS = 50;

@injectable()
export class HourCountWriter {
  readonly #waiting = new Map<string, DeltaBatch>();
  readonly #running = new Map<string, Promise<void>>();

  constructor(
    @inject(collection<HourDoc>('hours')) private readonly hours: Pick<Collection<HourDoc>, 'get' | 'change'>,
  ) {}

  /**
   * Resolves after the commit.
   * @throws ServiceError conflict
   */
  add(series: HourSeries, delta: HourDelta): Promise<void> {
    const waiting = this.#waiting.get(series.id);
    if (waiting !== undefined) {
      mergeDelta(waiting.delta, delta);
      return waiting.done;
    }
    const batch: DeltaBatch = { delta: createEmptyDelta(), done: Promise.resolve() };
    mergeDelta(batch.delta, delta);
    this.#waiting.set(series.id, batch);
    batch.done = (this.#running.get(series.id) ?? Promise.resolve()).then(() => this.#startBatch(series, batch));
    return batch.done;
  }

  #startBatch(series: HourSeries, { delta }: DeltaBatch): Promise<void> {
    this.#waiting.delete(series.id);
    const written = this.#write(series, delta);
    // A failure only affects the callers of this batch.
    const settled = written
      .catch(() => undefined)
      .finally(() => {
        if (this.#running.get(series.id) === settled) this.#running.delete(series.id);
      });
    this.#running.set(series.id, settled);
    return written;
  }

  async #write({ id, vouched, ...about }: HourSeries, delta: HourDelta): Promise<void> {
    if (vouched === 1) delta.marks.add('vouched');
    const update = buildUpdate(delta);
    if (delta.people.length === 0 && delta.crashed.length === 0) {
      await this.hours.change({ id }, { ...update, setOnInsert: about }, { upsert: true });
      return;
    }
    for (let tries = 0; tries < MAX_WRITE_ATTEMPTS; tries++) {
      const before = (await this.hours.get(id)) ?? (await this.#ensureHour({ id, ...about }));
      const people = addHashes(before.people ?? null, delta.people) ?? undefined;
      const crashed_people = addHashes(before.crashed_people ?? null, delta.crashed) ?? undefined;
      const same = { id, people: before.people ?? null, crashed_people: before.crashed_people ?? null };
      if ((await this.hours.change(same, { ...update, set: { people, crashed_people } })) !== null) return;
    }
    throw conflict('Too many concurrent session counts of this hour. Send them again.');
  }

  async #ensureHour({ id, ...about }: HourSeries): Promise<HourDoc> {
    const made = await this.hours.change({ id }, { setOnInsert: about }, { upsert: true });
    if (made === null) throw conflict('The hour of these sessions is being removed. Send them again.');
    return made.doc;
  }
}
