/**
 * Answers requests on the thread that makes them, for a process that has nobody to keep waiting: a command. What is
 * asked in one turn is answered together, as a worker does, so that many writes share a commit.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { cannotOpen, settle, type Answerer, type Call, type Heard } from './answerer.js';
import type { Request } from './messages.js';
import type { Answers } from './serve.js';

export class Here implements Answerer {
  #service: Answers<never> | null = null;
  #queue: Call[] = [];
  #working: Promise<void> | null = null;

  /** @param open makes the service of the file at `path` */
  constructor(
    private readonly path: string,
    private readonly open: () => Promise<Answers<never>>,
    private readonly heard: Heard = {},
  ) {}

  async start(): Promise<void> {
    try {
      this.#service = await this.open();
    } catch (error) {
      throw cannotOpen(this.path, error);
    }
  }

  call(request: Request): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, resolve, reject });
      this.#working ??= this.#work();
    });
  }

  /** Until nothing waits any more, and what comes meanwhile. */
  async #work(): Promise<void> {
    while (this.#queue.length > 0) {
      await turn();
      const calls = this.#queue.splice(0, this.#service?.most ?? this.#queue.length);
      try {
        await this.#answer(calls);
      } catch (error) {
        for (const { reject } of calls) reject(error);
      }
    }
    this.#working = null;
  }

  async #answer(calls: readonly Call[]): Promise<void> {
    if (this.#service === null) throw new Error('the store is closed');
    const requests = calls.map(({ request }) => request);
    const outcomes = await this.#service.answer(requests as never[]);
    for (const request of requests) this.heard.answered?.(request);
    settle(calls, outcomes, this.heard);
  }

  async close(): Promise<void> {
    await this.#working;
    this.#service?.close();
    this.#service = null;
  }
}
