/**
 * Threads do not isolate memory: V8 aborts the whole process at a thread's limit, and `terminate()`
 * waits for native calls. Untrusted bytes are therefore parsed in a process that is killed when it
 * does not answer and restarted for the next job.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { SourceMapRejected } from '../../ports/source-map-reader.js';
import { UPLOAD_LIMITS } from './limits.js';
import type { MapAnswer, MapJob } from './worker.js';

export interface MapProcessLimits {
  silentMs: number;
  idleMs: number;
  heapMb: number;
}

const WORKER_PATH = fileURLToPath(new URL('./worker.js', import.meta.url));

export class MapProcess {
  #child: ChildProcess | null = null;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(private readonly bounds: MapProcessLimits = UPLOAD_LIMITS) {}

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /**
   * Runs one job; the caller must wait before the next one.
   * @throws MapRefused
   */
  run(job: MapJob): Promise<MapAnswer> {
    if (this.#closed)
      return Promise.reject(new SourceMapRejected('cannot be read while the service is stopping', false));
    clearTimeout(this.#idle);
    const child = (this.#child ??= this.#start());
    child.ref();
    child.channel?.ref();
    return new Promise<MapAnswer>((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(limit);
        child.off('message', answered).off('error', ended).off('exit', ended);
      };
      const give = (why: string): void => {
        settle();
        this.#killProcess(child);
        // Not the map's fault for certain: the machine may be busy or short of memory.
        reject(new SourceMapRejected(why, false));
      };
      const answered = (message: unknown): void => {
        settle();
        this.#startIdleTimer(child);
        resolve(message as MapAnswer);
      };
      const ended = (): void => give('was not read: the source map process exited');
      const limit = setTimeout(() => give('was not read in time'), this.bounds.silentMs);
      child.on('message', answered).on('error', ended).on('exit', ended);
      child.send(job, (error) => error && ended());
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.ref();
    child.kill('SIGKILL');
    await gone;
  }

  #start(): ChildProcess {
    const child = fork(WORKER_PATH, [], {
      execArgv: [`--max-old-space-size=${this.bounds.heapMb}`, '--max-semi-space-size=4'],
      // Hides the service's settings and secrets.
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.on('error', () => this.#killProcess(child)).on('exit', () => this.#killProcess(child));
    return child;
  }

  #startIdleTimer(child: ChildProcess): void {
    child.unref();
    child.channel?.unref();
    this.#idle = setTimeout(() => this.#killProcess(child), this.bounds.idleMs).unref();
  }

  #killProcess(child: ChildProcess): void {
    if (this.#child === child) this.#child = null;
    child.unref();
    child.channel?.unref();
    child.kill('SIGKILL');
  }
}
