/**
 * Batches calls of one event-loop turn into one command. Nothing is delayed: the batch is sent when
 * the turn ends.
 */

const MAX_BATCH_CALLS = 1000;

export type CallOutcome<O> = { value: O } | { error: unknown };

interface PendingCall<I, O> {
  input: I;
  resolve: (value: O) => void;
  reject: (error: unknown) => void;
}

export class CallBatcher<I, O> {
  #calls: PendingCall<I, O>[] = [];

  /**
   * @param alone runs a single call
   * @param together runs several calls and returns one outcome each, in order; an error applies to
   *   all
   */
  constructor(
    private readonly alone: (input: I) => Promise<O>,
    private readonly together: (inputs: readonly I[]) => Promise<readonly CallOutcome<O>[]>,
  ) {}

  call(input: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.#calls.push({ input, resolve, reject });
      if (this.#calls.length === 1) setImmediate(() => this.#sendAll());
    });
  }

  #sendAll(): void {
    const calls = this.#calls;
    this.#calls = [];
    for (let i = 0; i < calls.length; i += MAX_BATCH_CALLS) void this.#send(calls.slice(i, i + MAX_BATCH_CALLS));
  }

  async #send(calls: readonly PendingCall<I, O>[]): Promise<void> {
    const [only] = calls;
    if (calls.length === 1 && only !== undefined) {
      await this.alone(only.input).then(only.resolve, only.reject);
      return;
    }
    try {
      const outcomes = await this.together(calls.map(({ input }) => input));
      calls.forEach(({ resolve, reject }, i) => {
        const outcome = outcomes[i] as CallOutcome<O>;
        if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.value);
      });
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }
}
