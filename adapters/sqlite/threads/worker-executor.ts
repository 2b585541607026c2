/**
 * Requests of one turn are sent in one message, without waiting for earlier answers, which enables
 * group commit.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { registerLiveThread } from '../../../lib/process/live-threads.js';
import type { ConnectionOptions } from '../connection/connection.js';
import {
  createOpenError,
  toError,
  settleCalls,
  type PendingRequest,
  type RequestExecutor,
  type FailureListener,
} from './executor.js';
import type { RequestOutcome, StorageRequest } from './messages.js';
import { CLOSE_MESSAGE, READY_MESSAGE } from './request-server.js';

/** Requests and answers are small and short-lived; V8's default lets this space grow to 48 MB. */
const YOUNG_GENERATION_MB = 8;

export class WorkerExecutor implements RequestExecutor {
  #worker: Worker | null = null;
  /** Unanswered calls in order; the last ones may not have been sent. */
  #calls: PendingRequest[] = [];
  #unsent: StorageRequest[] = [];
  #refusal: Error | null = null;
  #idle: (() => void) | null = null;

  constructor(
    private readonly role: 'writer' | 'reader',
    private readonly connection: ConnectionOptions,
    private readonly failed?: FailureListener,
  ) {}

  async start(): Promise<void> {
    const workerData = { role: this.role, connection: this.connection };
    const module = new URL('../worker.js', import.meta.url);
    const worker = new Worker(module, {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    registerLiveThread(worker, () => worker.postMessage(CLOSE_MESSAGE, []));
    const [hello] = (await once(worker, 'message').catch((thrown: unknown) => {
      throw createOpenError(this.connection.path, thrown);
    })) as [unknown];
    if (hello !== READY_MESSAGE) throw new Error('a storage worker did not start');
    worker.on('message', (outcomes: readonly RequestOutcome[]) => this.#handleOutcomes(outcomes));
    worker.on('error', (error) => this.#handleExit(error));
    worker.on('exit', () => this.#handleExit(new Error('a storage worker exited')));
    this.#worker = worker;
  }

  call(request: StorageRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#refusal) return reject(this.#refusal);
      this.#calls.push({ request, resolve, reject });
      if (this.#unsent.push(request) === 1) setImmediate(() => this.#send());
    });
  }

  async close(): Promise<void> {
    if (this.#calls.length > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    this.#refusal ??= new Error('the store is closed');
    const worker = this.#worker;
    if (worker === null) return;
    this.#worker = null;
    const exit = once(worker, 'exit');
    worker.postMessage(CLOSE_MESSAGE, []);
    await exit;
  }

  #send(): void {
    const requests = this.#unsent;
    this.#unsent = [];
    this.#worker?.postMessage(requests, []);
  }

  #handleOutcomes(outcomes: readonly RequestOutcome[]): void {
    settleCalls(this.#calls.splice(0, outcomes.length), outcomes, this.failed);
    if (this.#calls.length === 0) this.#idle?.();
  }

  /** Only after a fatal error; nothing is acknowledged afterwards. */
  #handleExit(error: unknown): void {
    this.#refusal ??= toError(error);
    this.#worker = null;
    for (const { reject } of this.#calls.splice(0)) reject(this.#refusal);
    this.#idle?.();
  }
}
