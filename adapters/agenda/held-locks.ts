/**
 * The locks of this process, by token and job: a job that is given back may be taken again before that is acknowledged,
 * and jobs that are taken together have one token (locks-together.ts).
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

const nameOf = ({ id, token }: LockKey): string => `${token} ${id}`;

export class HeldLocks {
  readonly #held = new Map<string, Held>();
  readonly #idle: (() => void)[] = [];

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.#held.size;
  }

  get(lock: LockKey): Held | undefined {
    return this.#held.get(nameOf(lock));
  }

  take({ id, token }: LockKey): void {
    const since = this.clock.monotonic();
    this.#held.set(nameOf({ id, token }), { id, token, started: false, since, began_at: null });
  }

  begin(lock: LockKey): void {
    const held = this.get(lock);
    if (held) Object.assign(held, { started: true, since: this.clock.monotonic(), began_at: this.clock.iso() });
  }

  drop(lock: LockKey): void {
    this.#held.delete(nameOf(lock));
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
