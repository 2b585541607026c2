/** Damage that calls have met since the start, for health: the weekly look comes later. */
import { StoreDamaged } from '../../ports/store.js';
import type { MetDamage } from '../../ports/store/damage.js';

/** Documents that are remembered, the latest. */
const MOST = 100;

export class DamageNotes {
  readonly #met = new Map<string, MetDamage>();

  /** Notes a damaged document by its name, or the file as a whole; other errors are none. */
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
