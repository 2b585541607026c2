/** Answers requests on the calling thread, for commands, which may block. */
import { setImmediate as turn } from 'node:timers/promises';
import {
  createOpenError,
  settleCalls,
  type PendingRequest,
  type RequestExecutor,
  type FailureListener,
  type RequestService,
} from './executor.js';
import type { StorageRequest } from './messages.js';

export class InlineExecutor<R extends StorageRequest> implements RequestExecutor {
  #service: RequestService<R> | null = null;
  #queue: PendingRequest[] = [];
  #working: Promise<void> | null = null;

  /** @param open opens the service of the file at `path`, on the first request */
  constructor(
    private readonly path: string,
    private readonly open: () => RequestService<R>,
    private readonly failed?: FailureListener,
  ) {}

  async start(): Promise<void> {}

  call(request: R): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, resolve, reject });
      this.#working ??= this.#drain();
    });
  }

  async close(): Promise<void> {
    await this.#working;
    this.#service?.close();
    this.#service = null;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await turn();
      try {
        const { most, answer } = (this.#service ??= this.#getService());
        const calls = this.#queue.splice(0, most);
        settleCalls(calls, answer(calls.map(({ request }) => request as R)), this.failed);
      } catch (error) {
        for (const { reject } of this.#queue.splice(0)) reject(error);
      }
    }
    this.#working = null;
  }

  #getService(): RequestService<R> {
    try {
      return this.open();
    } catch (error) {
      throw createOpenError(this.path, error);
    }
  }
}
