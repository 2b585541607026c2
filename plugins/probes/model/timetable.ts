/**
 * When which probe is due: in slots of a tenth of a second, so that two thousand a minute cost a look at a map and no
 * sorting. The first time of each lies somewhere within its interval, decided by its name, so that probes that were
 * made together are spread. Times are those of a monotonic clock, so that a step of the time of day moves none. Pure;
 * times in ms.
 */
const SLOT_MS = 100;
/** After a longer pause, slots are not visited one by one. */
const MAX_WALKED_SLOTS = 36_000;

export class ProbeTimetable {
  readonly #slots = new Map<number, Set<string>>();
  readonly #slotOf = new Map<string, number>();
  /** The last slot that was taken. */
  #taken: number;

  constructor(now: number) {
    this.#taken = Math.floor(now / SLOT_MS);
  }

  get size(): number {
    return this.#slotOf.size;
  }

  has(name: string): boolean {
    return this.#slotOf.has(name);
  }

  /** In place of the time that it has; never earlier than that, nor before the next slot. */
  put(name: string, at: number): void {
    this.remove(name);
    const slot = Math.max(Math.ceil(at / SLOT_MS), this.#taken + 1);
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

  /** Removes and returns the names that are due; the caller schedules them again. */
  take(now: number): string[] {
    const last = Math.floor(now / SLOT_MS);
    const due: string[] = [];
    const slots =
      last - this.#taken > MAX_WALKED_SLOTS
        ? [...this.#slots.keys()].filter((slot) => slot <= last).toSorted((a, b) => a - b)
        : Array.from({ length: Math.max(0, last - this.#taken) }, (_, i) => this.#taken + 1 + i);
    for (const slot of slots) {
      for (const name of this.#slots.get(slot) ?? []) {
        due.push(name);
        this.#slotOf.delete(name);
      }
      this.#slots.delete(slot);
    }
    this.#taken = Math.max(this.#taken, last);
    return due;
  }
}

/** The next time of a probe after `now`, by its name. */
export function getNextTime(name: string, intervalMs: number, now: number): number {
  const phase = hash(name) % intervalMs;
  return Math.floor((now - phase) / intervalMs) * intervalMs + intervalMs + phase;
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
