/** What is started for its first request: most commands only read, and the start of a thread is 50 ms of work. */
import type { Answerer } from './answerer.js';
import type { Request } from './messages.js';

export class Late implements Answerer {
  #started: Promise<void> | null = null;

  constructor(private readonly line: Answerer) {}

  async start(): Promise<void> {
    // The first request does it.
  }

  async call(request: Request): Promise<unknown> {
    await (this.#started ??= this.line.start());
    return this.line.call(request);
  }

  async close(): Promise<void> {
    if (this.#started === null) return;
    // A start that failed was told to whoever made the request.
    const runs = await this.#started.then(
      () => true,
      () => false,
    );
    if (runs) await this.line.close();
  }
}
