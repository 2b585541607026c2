/**
 * Requests that run while a test changes something: what fails of them is kept, and none is waited
 * for by time.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '../../harness.js';
import { scaleRepeats } from '../../support/repeat-budget.js';

const MOST_FAILURES = 20;
const LONGEST_MS = 120_000;
/**
 * From the end of a round to the next: a test waits half a minute for a rotation, and a hundred
 * rounds of each loop are enough; `.ci/run` has more.
 */
const PAUSE_MS = 300 / scaleRepeats(1);

export class Load {
  /** Rounds that were answered as they should. */
  answered = 0;
  readonly #failures: string[] = [];
  readonly #running: Promise<void>[] = [];
  #ended = false;

  /** One round after the other, until `end`. */
  repeat(round: () => Promise<void>): void {
    this.#running.push(this.#run(round));
  }

  async #run(round: () => Promise<void>): Promise<void> {
    while (!this.#ended && this.#failures.length < MOST_FAILURES) {
      try {
        await round();
        this.answered++;
      } catch (error) {
        this.#failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
      }
      await pause(PAUSE_MS);
    }
  }

  /** Waits for so many rounds more of all of them together. */
  async more(rounds: number): Promise<void> {
    const wanted = this.answered + rounds;
    const enough = (): boolean => this.answered >= wanted || this.#failures.length > 0;
    await waitUntil('requests go on', () => Promise.resolve(enough()), LONGEST_MS);
  }

  /** Waits until each round that was under way is over. */
  quiet(): Promise<void> {
    return this.more(2 * this.#running.length);
  }

  /** @returns what failed */
  async end(): Promise<readonly string[]> {
    this.#ended = true;
    await Promise.all(this.#running);
    return this.#failures;
  }
}
