/**
 * The locks of this process, by their tokens: a job that is given back may be taken again before that is acknowledged.
 */
import type { Clock } from '../../ports/clock.js';

export interface Held {
  id: string;
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

  get(token: string): Held | undefined {
    return this.#held.get(token);
  }

  take(token: string, id: string): void {
    this.#held.set(token, { id, started: false, since: this.clock.monotonic(), began_at: null });
  }

  begin(token: string): void {
    const held = this.#held.get(token);
    if (held) Object.assign(held, { started: true, since: this.clock.monotonic(), began_at: this.clock.iso() });
  }

  drop(token: string): void {
    this.#held.delete(token);
    if (this.#held.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Of those for which this holds. */
  tokens(where: (held: Held) => boolean): string[] {
    return [...this.#held].filter(([, held]) => where(held)).map(([token]) => token);
  }

  /** Resolves when this process holds no lock. */
  async whenIdle(): Promise<void> {
    if (this.#held.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}
