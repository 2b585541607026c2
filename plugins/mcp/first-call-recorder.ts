/**
 * Records whether an agent has ever called, for the dashboard's first steps
 * (ports/domain/dashboard.ts).
 */
import type { Clock, Collection, Doc, Logger } from '../../kernel/contract/index.js';
import { StoreConflict } from '../../ports/store/index.js';

export interface FirstCallDoc extends Doc {
  at: string;
}

const FIRST_CALL_ID = 'first_call';

export class FirstCallRecorder {
  #noted = false;

  constructor(
    private readonly marks: Collection<FirstCallDoc>,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /**
   * Records a call; only the first one of a process writes. Calls neither wait for it nor fail
   * because of it.
   */
  record(): void {
    if (this.#noted) return;
    this.#noted = true;
    this.marks.insert({ id: FIRST_CALL_ID, at: this.clock.iso() }).catch((err: unknown) => {
      if (err instanceof StoreConflict) return;
      this.#noted = false;
      this.log.warn({ err }, 'the first call of an agent could not be recorded');
    });
  }

  async hasHappened(): Promise<boolean> {
    return (await this.marks.get(FIRST_CALL_ID)) !== null;
  }
}
