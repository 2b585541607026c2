/**
 * Slots of 100 ms need no sorting. The first time is derived from the name, which spreads probes
 * over their interval. Times are monotonic ms.
 */
const SLOT_MS = 100;
const MAX_VISITED_SLOTS = 36_000;

export class ProbeTimetable {
  readonly #slots = new Map<number, Set<string>>();
  readonly #slotOf = new Map<string, number>();
  #lastSlot: number;

  constructor(now: number) {
    this.#lastSlot = Math.floor(now / SLOT_MS);
  }

  get size(): number {
    return this.#slotOf.size;
  }

  has(name: string): boolean {
    return this.#slotOf.has(name);
  }

  /** Never before the next slot. */
  schedule(name: string, at: number): void {
    this.remove(name);
    const slot = Math.max(Math.ceil(at / SLOT_MS), this.#lastSlot + 1);
    this.#slotOf.set(name, slot);
    const names = this.#slots.get(slot);
    if (names === undefined) this.#slots.set(slot, new Set([name]));
    else names.add(name);
  }

  remove(name: string): void {
    const slot = this.#slotOf.get(name);
    if (slot === undefined) return;
    this.#slotOf.delete(name);
    const names = this.#slots.get(slot);
    names?.delete(name);
    if (names?.size === 0) this.#slots.delete(slot);
  }

  takeDue(now: number): string[] {
    const last = Math.floor(now / SLOT_MS);
    const due: string[] = [];
    const slots =
      last - this.#lastSlot > MAX_VISITED_SLOTS
        ? [...this.#slots.keys()].filter((slot) => slot <= last).toSorted((a, b) => a - b)
        : Array.from({ length: Math.max(0, last - this.#lastSlot) }, (_, i) => this.#lastSlot + 1 + i);
    for (const slot of slots) {
      for (const name of this.#slots.get(slot) ?? []) {
        due.push(name);
        this.#slotOf.delete(name);
      }
      this.#slots.delete(slot);
    }
    this.#lastSlot = Math.max(this.#lastSlot, last);
    return due;
  }
}

export function getNextTime(name: string, intervalMs: number, now: number): number {
  const phase = hashName(name) % intervalMs;
  return Math.floor((now - phase) / intervalMs) * intervalMs + intervalMs + phase;
}

/** FNV-1a. */
function hashName(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
