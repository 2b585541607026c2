/** Answers requests on the thread that makes them, for a process that has nobody to keep waiting: a command. */
import { cannotOpen, type Answerer } from './answerer.js';
import { unwrap, type Request } from './messages.js';
import type { Answers } from './serve.js';

export class Here implements Answerer {
  #service: Answers<never> | null = null;
  #last: Promise<unknown> = Promise.resolve();

  /** @param open makes the service of the file at `path` */
  constructor(
    private readonly path: string,
    private readonly open: () => Promise<Answers<never>>,
  ) {}

  async start(): Promise<void> {
    try {
      this.#service = await this.open();
    } catch (error) {
      throw cannotOpen(this.path, error);
    }
  }

  call(request: Request): Promise<unknown> {
    const answered = this.#last.then(() => this.#answer(request));
    this.#last = answered.catch(() => undefined);
    return answered;
  }

  async #answer(request: Request): Promise<unknown> {
    if (this.#service === null) throw new Error('the store is closed');
    const [outcome] = await this.#service.answer([request as never]);
    if (outcome === undefined) throw new Error('a request has no answer');
    return unwrap(outcome);
  }

  async close(): Promise<void> {
    await this.#last;
    this.#service?.close();
    this.#service = null;
  }
}
