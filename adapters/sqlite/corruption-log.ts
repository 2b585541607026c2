/**
 * Records damage found by calls since the start, for the health report, because the full check runs
 * weekly.
 */
import { StoreDamaged } from '../../ports/store/index.js';
import type { CorruptDocument } from '../../ports/store/damage.js';

const MAX_RECORDS = 100;

export class CorruptionLog {
  readonly #records = new Map<string, CorruptDocument>();

  readonly record = (error: unknown): void => {
    if (!(error instanceof StoreDamaged)) return;
    const { collection, id } = error.place;
    if (collection !== null && id === null) return;
    const name = `${collection} ${id}`;
    this.#records.delete(name);
    this.#records.set(name, { place: error.place, at: new Date().toISOString() });
    const [oldest] = this.#records.keys();
    if (this.#records.size > MAX_RECORDS && oldest !== undefined) this.#records.delete(oldest);
  };

  list(): readonly CorruptDocument[] {
    return [...this.#records.values()];
  }
}
