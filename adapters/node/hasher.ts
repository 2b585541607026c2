/**
 * Hashes passwords in worker threads, because bcrypt would block the main thread. The queue is
 * bounded: a flood of logins is answered with 503 instead of filling memory.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { ServiceError } from '../../kernel/errors.js';
import type { PasswordHasher } from '../../ports/hasher.js';
import type { HashAnswer, HashJob } from './hasher-worker.js';

const DEFAULT_BCRYPT_COST = 12;
/** A larger cost, from a hostile import, would occupy a thread for minutes. */
const MAX_BCRYPT_COST = 15;
const MAX_ARGON_KIB = 256 * 1024;
const MAX_BCRYPT_BYTES = 72;
const MAX_QUEUED_JOBS = 256;
const IDLE_TIMEOUT_MS = 10_000;
/** Verified when the account does not exist, so that both cases take equally long. */
const DUMMY_HASH = '$2y$12$8PzxKShfq6YCUa5LQEwlUeL0PHEKPohULbSYokL4qkE5rtbXMSTSu';

type HashTask = HashJob extends infer J ? (J extends { id: number } ? Omit<J, 'id'> : never) : never;
interface QueuedJob {
  job: HashJob;
  resolve: (value: string | boolean) => void;
  reject: (error: Error) => void;
}

function parseHashKind(hash: string): { kind: 'bcrypt'; cost: number } | { kind: 'argon2' } | null {
  const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(hash);
  if (bcrypt) {
    const cost = Number(bcrypt[1]);
    return cost >= 4 && cost <= MAX_BCRYPT_COST ? { kind: 'bcrypt', cost } : null;
  }
  const argon = /^\$argon2(?:id|i|d)\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$[\w+/]+\$[\w+/]+$/.exec(hash);
  return argon && Number(argon[1]) <= MAX_ARGON_KIB ? { kind: 'argon2' } : null;
}

/**
 * bcrypt ignores everything after 72 bytes or a NUL, so longer passwords would match any suffix.
 */
const isTruncatedByBcrypt = (password: string, hash: string): boolean =>
  hash.startsWith('$2') && (Buffer.byteLength(password) > MAX_BCRYPT_BYTES || password.includes('\0'));

export class ThreadHasher implements PasswordHasher {
  private readonly idle = new Map<Worker, NodeJS.Timeout>();
  private readonly busy = new Map<Worker, QueuedJob>();
  private readonly queue: QueuedJob[] = [];
  /** Background jobs; they run only while no password waits. */
  private readonly backgroundQueue: QueuedJob[] = [];
  private background: QueuedJob | null = null;
  private readonly size: number;
  private readonly idleMs: number;
  private readonly cost: number;
  private readonly dummyHash: string;
  private nextId = 0;
  private closed = false;
  readonly threads = new Set<number>();

  constructor(options: { threads?: number; idleMs?: number; cost?: number | undefined } = {}) {
    this.size = options.threads ?? Math.min(2, availableParallelism());
    this.idleMs = options.idleMs ?? IDLE_TIMEOUT_MS;
    this.cost = options.cost ?? DEFAULT_BCRYPT_COST;
    this.dummyHash = DUMMY_HASH.replace(/(?<=^\$2y\$)\d\d/, String(this.cost).padStart(2, '0'));
  }

  async hash(password: string, cost: number = this.cost, { background = false } = {}): Promise<string> {
    if (!Number.isInteger(cost) || cost < 4 || cost > MAX_BCRYPT_COST) throw new TypeError(`bcrypt cost ${cost}`);
    return String(await this.enqueue({ kind: 'hash', password, cost }, background));
  }

  async verify(password: string, hash: string | null): Promise<{ ok: boolean; rehash: boolean }> {
    const found = hash === null || isTruncatedByBcrypt(password, hash) ? null : parseHashKind(hash);
    if (hash === null || found === null) {
      await this.enqueue({ kind: 'bcrypt', password, hash: this.dummyHash });
      return { ok: false, rehash: false };
    }
    const ok = (await this.enqueue({ kind: found.kind, password, hash })) === true;
    return { ok, rehash: ok && (found.kind === 'argon2' || found.cost < this.cost) };
  }

  async close(): Promise<void> {
    this.closed = true;
    const stopped = new ServiceError('not_ready', 'The service is stopping.', { headers: { 'retry-after': '5' } });
    for (const waiting of [...this.queue.splice(0), ...this.backgroundQueue.splice(0)]) waiting.reject(stopped);
    for (const waiting of this.busy.values()) waiting.reject(stopped);
    const workers = [...this.idle.keys(), ...this.busy.keys()];
    for (const timer of this.idle.values()) clearTimeout(timer);
    this.idle.clear();
    this.busy.clear();
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  private enqueue(task: HashTask, background = false): Promise<string | boolean> {
    if (this.closed || (!background && this.queue.length >= MAX_QUEUED_JOBS)) {
      const problem = this.closed ? 'The service is stopping.' : 'Too many concurrent logins.';
      return Promise.reject(new ServiceError('overloaded', problem, { headers: { 'retry-after': '5' } }));
    }
    return new Promise((resolve, reject) => {
      const queue = background ? this.backgroundQueue : this.queue;
      queue.push({ job: { ...task, id: ++this.nextId }, resolve, reject });
      this.dispatch();
    });
  }

  private dispatch(): void {
    while (this.queue.length > 0 || (this.backgroundQueue.length > 0 && this.background === null)) {
      const worker = this.takeIdleWorker() ?? (this.busy.size < this.size ? this.spawn() : null);
      if (!worker) return;
      const waiting = this.queue.shift() ?? (this.background = this.backgroundQueue.shift() as QueuedJob);
      this.busy.set(worker, waiting);
      // A running job keeps the process alive; an idle thread does not.
      worker.ref();
      worker.postMessage(waiting.job, []);
    }
  }

  /** The most recently idle, so that the others can time out. */
  private takeIdleWorker(): Worker | null {
    const [worker, timer] = [...this.idle].at(-1) ?? [];
    if (worker === undefined) return null;
    clearTimeout(timer);
    this.idle.delete(worker);
    return worker;
  }

  private markIdle(worker: Worker): void {
    worker.unref();
    const end = (): void => {
      this.idle.delete(worker);
      void worker.terminate();
    };
    this.idle.set(worker, setTimeout(end, this.idleMs).unref());
  }

  private spawn(): Worker {
    const worker = new Worker(new URL('./hasher-worker.js', import.meta.url));
    worker.on('message', (answer: HashAnswer) => this.handleAnswer(worker, answer));
    worker.on('error', (error) => this.handleCrash(worker, error instanceof Error ? error : new Error(String(error))));
    const { threadId } = worker;
    worker.on('exit', (code) => {
      this.threads.delete(threadId);
      this.handleCrash(worker, new Error(`the hashing thread exited with code ${code}`));
    });
    return worker;
  }

  private handleAnswer(worker: Worker, answer: HashAnswer): void {
    const waiting = this.busy.get(worker);
    if (!waiting) return;
    this.busy.delete(worker);
    if (this.background === waiting) this.background = null;
    this.threads.add(answer.thread);
    this.markIdle(worker);
    if ('error' in answer) waiting.reject(new Error(`hashing failed: ${answer.error}`));
    else waiting.resolve(answer.value);
    this.dispatch();
  }

  /** The job of a crashed worker fails; the next job starts another worker. */
  private handleCrash(worker: Worker, error: Error): void {
    const waiting = this.busy.get(worker);
    this.busy.delete(worker);
    if (this.background === waiting) this.background = null;
    clearTimeout(this.idle.get(worker));
    this.idle.delete(worker);
    waiting?.reject(error);
    if (!this.closed) this.dispatch();
  }
}
