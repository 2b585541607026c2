/**
 * The locks of this process. They are known by their tokens: a job that is given back may be taken again before that is
 * acknowledged.
 */
import type { Clock } from '../../ports/clock.js';

/** Names a lock: the token that is stored, and the document that has it. */
export interface LockKey {
  id: string;
  token: string;
}

export interface Held extends LockKey {
  started: boolean;
  /** `clock.monotonic()` when the run began, or else when it was locked. */
  since: number;
  /** When the run began, by the time of day; null: it has not. */
  began_at: string | null;
}

export class HeldLocks {
  readonly #held = new Map<string, Held>();
  readonly #idle: (() => void)[] = [];

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.#held.size;
  }

  get(lock: LockKey): Held | undefined {
    return this.#held.get(lock.token);
  }

  take({ id, token }: LockKey): void {
    const since = this.clock.monotonic();
    this.#held.set(token, { id, token, started: false, since, began_at: null });
  }

  begin(lock: LockKey): void {
    const held = this.get(lock);
    if (held) Object.assign(held, { started: true, since: this.clock.monotonic(), began_at: this.clock.iso() });
  }

  drop(lock: LockKey): void {
    this.#held.delete(lock.token);
    if (this.#held.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Those for which this holds. */
  those(where: (held: Held) => boolean): Held[] {
    return [...this.#held.values()].filter(where);
  }

  /** Resolves when this process holds no lock. */
  async whenIdle(): Promise<void> {
    if (this.#held.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}
