/**
 * A slot is a number in a unique index, so machines never share one and no counter can become
 * wrong. Approvals may exceed the maximum: each slot above it leaves one fewer below.
 */
import type { Collection } from '../../../kernel/contract/index.js';
import type { Filter } from '../../../ports/store/index.js';
import { MAX_ACTIVATIONS } from '../model/fields.js';
import type { ActivationDoc, LicenseDoc } from '../model/documents.js';

export type SlotKind = 'active' | 'pending';

export interface MachineSlot {
  slot: string;
  slot_n: number;
}

export const MAX_PENDING_MACHINES = 100;

const SLOT_PREFIX = { active: 'a', pending: 'p' } as const;

export class MachineSlots {
  constructor(
    private readonly rows: Pick<Collection<ActivationDoc>, 'count'>,
    private readonly license: Pick<LicenseDoc, 'id' | 'max_activations'>,
    private readonly kind: SlotKind,
  ) {}

  countUsed(): Promise<number> {
    return this.rows.count({ license_id: this.license.id, status: this.kind });
  }

  /**
   * @param guess true tries the slot after the taken ones; false searches a free one after a failed
   *   guess
   */
  async findFree(guess: boolean): Promise<MachineSlot | null> {
    const limit = await this.#computeUpperBound();
    return limit === 0 ? null : this.#findFreeIn(0, limit, guess);
  }

  async findBeyondMaximum(): Promise<MachineSlot | null> {
    return this.#findFreeIn(this.license.max_activations ?? 0, MAX_ACTIVATIONS, false);
  }

  /** Computes the largest that, with the slots taken above it, stays within the maximum. */
  async #computeUpperBound(): Promise<number> {
    if (this.kind === 'pending') return MAX_PENDING_MACHINES;
    const { max_activations: most } = this.license;
    if (most === null) return MAX_ACTIVATIONS;
    if ((await this.#count(most, MAX_ACTIVATIONS)) === 0) return most;
    let low = 0;
    let high = most - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (middle + (await this.#count(middle, MAX_ACTIVATIONS)) <= most) low = middle;
      else high = middle - 1;
    }
    return low + (await this.#count(low, MAX_ACTIVATIONS)) <= most ? low : 0;
  }

  async #findFreeIn(from: number, to: number, guess: boolean): Promise<MachineSlot | null> {
    const n = await findFreeNumber((low, high) => this.#count(low, high), from, to, guess);
    return n === null ? null : this.#toSlot(n);
  }

  #toSlot(n: number): MachineSlot {
    return { slot: `${this.license.id} ${SLOT_PREFIX[this.kind]}${n}`, slot_n: n };
  }

  #count(from: number, to: number): Promise<number> {
    const filter: Filter = { license_id: this.license.id, status: this.kind, slot_n: { gte: from, lt: to } };
    return this.rows.count(filter);
  }
}

/**
 * Finds by bisection: one query per binary digit of the range.
 * @param count taken numbers from `from` to below `to`
 * @param guess true returns the number after the taken ones, if they have no gaps
 * @returns null when all are taken
 */
export async function findFreeNumber(
  count: (from: number, to: number) => Promise<number>,
  from: number,
  to: number,
  guess: boolean,
): Promise<number | null> {
  let [low, high] = [from, to];
  let usedCount = await count(low, high);
  if (usedCount >= high - low) return null;
  if (guess) return low + usedCount;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const below = await count(low, middle);
    const freeBelow = middle - low - below;
    const free = high - low - usedCount;
    if (Math.random() * free < freeBelow) [high, usedCount] = [middle, below];
    else [low, usedCount] = [middle, usedCount - below];
  }
  return low;
}
