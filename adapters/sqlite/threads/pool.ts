/**
 * Worker threads that share one queue. Two ways of sending:
 *  - `one`: a free thread gets one request, so a slow query delays no other reader while another thread is free;
 *  - `stream`: requests go out at once, a few per message, without waiting for answers. The worker takes what has
 *    arrived as one batch (serve.ts): the group commit. Waiting for the answer before sending more would let the two
 *    threads work in turns: all callers of a batch come back together, and the writer would wait while they are
 *    served.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { keepLive } from '../../../lib/process/live-threads.js';
import type { ConnectionOptions } from '../connection/connection.js';
import { cannotOpen, errorOf, settle, type Answerer, type Call, type Heard } from './answerer.js';
import type { Outcome, Request } from './messages.js';
import { CLOSE, READY } from './serve.js';

interface Thread {
  worker: Worker;
  calls: Call[];
  /** Ends it; null while it works, and for the first. */
  leaves: NodeJS.Timeout | null;
}

/** A request that has waited so long for a busy thread makes the pool start another one, in milliseconds. */
const PATIENCE_MS = 50;
/** How long a thread that was started for a slow query waits for its next one before it ends (each holds 8 MB). */
const IDLE_MS = 30_000;
/** A worker's requests and answers die young and are small: V8's own choice lets them grow to 48 MB before it looks. */
const YOUNG_MB = 8;

/** Requests that go out before the turn ends: waking a thread costs, but a thread that waits costs more. */
const EARLY = 4;

export interface PoolOptions extends Heard {
  module: URL;
  connection: ConnectionOptions;
  /** Threads at most; it begins with one. */
  threads: number;
  send: 'one' | 'stream';
  /** How long a thread besides the first waits without work before it ends, in milliseconds. */
  idleMs?: number | undefined;
}

export class Pool implements Answerer {
  readonly #options: PoolOptions;
  readonly #threads: Thread[] = [];
  readonly #leaving = new Set<Promise<void>>();
  #queue: Call[] = [];
  #scheduled = false;
  #refusal: Error | null = null;
  #idle: (() => void) | null = null;
  /** Runs while a request waits for a busy thread. */
  #patience: NodeJS.Timeout | null = null;
  #starting: Promise<void> | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** @throws what stopped a worker from opening the file */
  async start(): Promise<void> {
    const { module, connection } = this.#options;
    const worker = new Worker(module, {
      workerData: connection,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    keepLive(worker, () => worker.postMessage(CLOSE, []));
    const thread: Thread = { worker, calls: [], leaves: null };
    const [hello] = (await once(worker, 'message').catch((thrown: unknown) => {
      throw cannotOpen(connection.path, thrown);
    })) as [unknown];
    if (hello !== READY) throw new Error('a storage worker did not start');
    worker.on('message', (outcomes: readonly Outcome[]) => this.#answer(thread, outcomes));
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => {
      const at = this.#threads.indexOf(thread);
      if (at < 0) return;
      this.#threads.splice(at, 1);
      this.#fail(new Error('a storage worker ended'), thread);
    });
    this.#threads.push(thread);
  }

  /** Threads that take requests. */
  get size(): number {
    return this.#threads.length;
  }

  call(request: Request): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#refusal) return reject(this.#refusal);
      this.#queue.push({ request, resolve, reject });
      if (this.#options.send === 'stream' && this.#queue.length >= EARLY) this.#dispatch();
      else this.#schedule();
    });
  }

  /** Sends what has gathered, at the end of the turn. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#dispatch();
    });
  }

  /** Waits until every request is answered, then ends the threads. */
  async close(): Promise<void> {
    if (this.#busy()) await new Promise<void>((resolve) => (this.#idle = resolve));
    this.#refusal ??= new Error('the store is closed');
    if (this.#patience !== null) clearTimeout(this.#patience);
    await this.#starting;
    const threads = this.#threads.splice(0);
    await Promise.all([...this.#leaving, ...threads.map((thread) => this.#end(thread))]);
  }

  /** Ends a thread that has nothing to do. */
  #dismiss(thread: Thread): void {
    if (this.#refusal) return;
    this.#threads.splice(this.#threads.indexOf(thread), 1);
    const left = this.#end(thread).finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }

  async #end({ worker, leaves }: Thread): Promise<void> {
    clearTimeout(leaves ?? undefined);
    const exit = once(worker, 'exit');
    worker.postMessage(CLOSE, []);
    await exit;
  }

  #busy(): boolean {
    return this.#queue.length > 0 || this.#threads.some((thread) => thread.calls.length > 0);
  }

  #dispatch(): void {
    for (const thread of this.#threads) {
      if (this.#queue.length === 0) return;
      const stream = this.#options.send === 'stream';
      if (!stream && thread.calls.length > 0) continue;
      const calls = this.#queue.splice(0, stream ? this.#queue.length : 1);
      thread.calls.push(...calls);
      clearTimeout(thread.leaves ?? undefined);
      thread.leaves = null;
      thread.worker.postMessage(
        calls.map((call) => call.request),
        [],
      );
    }
    if (this.#queue.length > 0) this.#grow();
  }

  /** Starts another thread, so that one slow query does not hold up all others. */
  #grow(): void {
    if (this.#patience !== null || this.#threads.length >= this.#options.threads) return;
    this.#patience = setTimeout(() => {
      this.#starting = this.#another().finally(() => (this.#patience = null));
    }, PATIENCE_MS);
  }

  async #another(): Promise<void> {
    if (this.#queue.length === 0 || this.#refusal) return;
    try {
      await this.start();
      this.#dispatch();
    } catch (error) {
      this.#fail(error);
    }
  }

  #answer(thread: Thread, outcomes: readonly Outcome[]): void {
    // Answers come in the order of the requests.
    const calls = thread.calls.splice(0, outcomes.length);
    const { answered } = this.#options;
    if (answered !== undefined) for (const { request } of calls) answered(request);
    this.#dispatch();
    if (thread.calls.length === 0 && thread !== this.#threads[0])
      thread.leaves = setTimeout(() => this.#dismiss(thread), this.#options.idleMs ?? IDLE_MS).unref();
    settle(calls, outcomes, this.#options);
    if (!this.#busy()) this.#idle?.();
  }

  /** A worker ends only by a fault of the program or the machine: nothing is acknowledged any more. */
  #fail(error: unknown, ended?: Thread): void {
    this.#refusal ??= errorOf(error);
    const threads = ended === undefined ? this.#threads : [ended, ...this.#threads];
    const calls = [...this.#queue, ...threads.flatMap((thread) => thread.calls)];
    this.#queue = [];
    for (const thread of threads) thread.calls = [];
    for (const { reject } of calls) reject(this.#refusal);
    this.#idle?.();
  }
}
