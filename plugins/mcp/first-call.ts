/** Whether an agent has ever called: the dashboard's first steps ask (ports/domain/dashboard.ts). */
import type { Clock, Collection, Doc, Logger } from '../../kernel/contract.js';
import { StoreConflict } from '../../ports/store.js';

export interface FirstCallDoc extends Doc {
  at: string;
}

const FIRST_CALL = 'first_call';

export class FirstCall {
  #noted = false;

  constructor(
    private readonly marks: Collection<FirstCallDoc>,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** An agent calls; only the first call of a process writes. No call waits for it, or fails by it. */
  note(): void {
    if (this.#noted) return;
    this.#noted = true;
    this.marks.insert({ id: FIRST_CALL, at: this.clock.iso() }).catch((err: unknown) => {
      if (err instanceof StoreConflict) return;
      this.#noted = false;
      this.log.warn({ err }, 'the first call of an agent was not noted');
    });
  }

  async happened(): Promise<boolean> {
    return (await this.marks.get(FIRST_CALL)) !== null;
  }
}
