/**
 * Writes log lines to standard output. An output that is full, slow or gone neither ends the
 * service, nor blocks its exit, nor fills its memory.
 */
import { write, writeSync } from 'node:fs';

/** Limit of the queue in characters; lines beyond it are counted and dropped. */
const KEPT = 4 * 1024 * 1024;
const CHUNK = 64 * 1024;
const AGAIN_MS = 500;
/** How long process exit waits for a blocked output. */
const END_MS = 1_000;

export interface LostLines {
  lines: number;
  /** Last error code of the output, for example `ENOSPC`. */
  code: string | null;
}

/** The write functions of node:fs; tests replace them. */
export interface Descriptor {
  write: (bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void;
  writeSync: (bytes: Buffer) => number;
}

const descriptor = (fd: number): Descriptor => ({
  write: (bytes, done) => write(fd, bytes, done),
  writeSync: (bytes) => writeSync(fd, bytes),
});

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';

/** Outputs with queued lines, which process exit writes. */
const unfinished = new Set<LogOutput>();
process.on('exit', () => {
  for (const output of unfinished) output.end();
});

export class LogOutput {
  #lines: string[] = [];
  #kept = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #state: 'idle' | 'writing' | 'failing' | 'closed' = 'idle';
  #lost: LostLines = { lines: 0, code: null };
  #flushed: (() => void)[] = [];

  /** @param lost called with the dropped lines as soon as the output accepts lines again */
  constructor(
    private readonly output: Descriptor,
    private readonly lost: (what: LostLines) => void,
  ) {}

  static to(fd: 1 | 2, lost: (what: LostLines) => void): LogOutput {
    return new LogOutput(descriptor(fd), lost);
  }

  write(line: string): void {
    if (this.#state === 'closed') return;
    if (this.#kept + line.length > KEPT) {
      this.#lost.lines += 1;
      return;
    }
    this.#lines.push(line);
    this.#kept += line.length;
    unfinished.add(this);
    if (this.#state === 'idle') this.#next();
  }

  /** Calls `done` when the queue is empty or the output is blocked; `done` may be called twice. */
  flush(done: () => void): void {
    if (this.#state !== 'writing') {
      done();
      return;
    }
    this.#flushed.push(done);
    setTimeout(done, END_MS).unref();
  }

  end(): void {
    // A pending asynchronous write completes by itself.
    if (this.#state === 'writing') this.#bytes = Buffer.alloc(0);
    const until = Date.now() + END_MS;
    while (this.#state !== 'closed' && this.#take()) {
      try {
        this.#bytes = this.#bytes.subarray(this.output.writeSync(this.#bytes));
      } catch (error) {
        if (codeOf(error) !== 'EAGAIN' || Date.now() > until) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      }
    }
  }

  /**
   * Fills the chunk.
   * @returns whether there is something to write
   */
  #take(): boolean {
    if (this.#bytes.length === 0) {
      let length = 0;
      let count = 0;
      while (count < this.#lines.length && length < CHUNK) length += this.#lines[count++]?.length ?? 0;
      this.#kept -= length;
      this.#bytes = Buffer.from(this.#lines.splice(0, count).join(''));
    }
    return this.#bytes.length > 0;
  }

  #next(): void {
    if (!this.#take()) {
      this.#rest('idle');
      return;
    }
    this.#state = 'writing';
    this.output.write(this.#bytes, (error, written) => (error ? this.#failed(error) : this.#wrote(written)));
  }

  #wrote(written: number): void {
    this.#bytes = this.#bytes.subarray(written);
    if (this.#lost.lines > 0 && this.#bytes.length === 0) {
      const lost = this.#lost;
      this.#lost = { lines: 0, code: null };
      this.lost(lost);
    }
    this.#next();
  }

  #failed(error: NodeJS.ErrnoException): void {
    this.#lost.code = codeOf(error);
    if (this.#lost.code === 'EPIPE') {
      // The reader has closed the pipe.
      this.#lines = [];
      this.#rest('closed');
      return;
    }
    this.#rest('failing');
    setTimeout(() => this.#next(), AGAIN_MS).unref();
  }

  #rest(state: 'idle' | 'failing' | 'closed'): void {
    this.#state = state;
    if (state !== 'failing') unfinished.delete(this);
    for (const done of this.#flushed.splice(0)) done();
  }
}
