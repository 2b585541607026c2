/**
 * Records damage found by calls since the start, for the health report, because the full check runs
 * weekly.
 */
import { StoreDamaged } from '../../ports/store.js';
import type { MetDamage } from '../../ports/store/damage.js';

const MOST = 100;

export class DamageNotes {
  readonly #met = new Map<string, MetDamage>();

  readonly note = (error: unknown): void => {
    if (!(error instanceof StoreDamaged)) return;
    const { collection, id } = error.place;
    if (collection !== null && id === null) return;
    const name = `${collection} ${id}`;
    this.#met.delete(name);
    this.#met.set(name, { place: error.place, at: new Date().toISOString() });
    const [oldest] = this.#met.keys();
    if (this.#met.size > MOST && oldest !== undefined) this.#met.delete(oldest);
  };

  all(): readonly MetDamage[] {
    return [...this.#met.values()];
  }
}
