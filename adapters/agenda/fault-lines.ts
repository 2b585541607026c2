/**
 * What this adapter tells of its faults: the same once a minute, and when the store answers again after it was away.
 */
import type { RepeatedLines } from '../../lib/text/repeated-lines.js';
import type { Clock } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';

export class FaultLines {
  #awaySince: number | null = null;

  constructor(
    private readonly log: Logger,
    private readonly lines: RepeatedLines,
    private readonly clock: Clock,
  ) {}

  /** @param names what makes two lines different @param more what belongs to this line alone */
  tell(message: string, err: unknown, names: Readonly<Record<string, string>> = {}, more: object = {}): void {
    const line = [message, ...Object.values(names), err instanceof Error ? err.message : ''].join('\n');
    const left = this.lines.next(line);
    if (left !== null) this.log.error({ ...names, ...more, ...left, err }, message);
  }

  /** A poll failed. */
  away(): void {
    this.#awaySince ??= this.clock.monotonic();
  }

  /** A poll was answered. */
  answered(): void {
    if (this.#awaySince === null) return;
    const seconds = Math.round((this.clock.monotonic() - this.#awaySince) / 1000);
    this.#awaySince = null;
    this.log.warn({ seconds, left_out: this.lines.over() }, 'the store answers again');
  }
}
