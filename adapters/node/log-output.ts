/**
 * Lines on their way to standard output. Where it leads may be full (a log file on a full disk), slow or gone, and that
 * never ends the service, holds up its end, or fills its memory. Our own because pino's destination throws what a full
 * disk answers, and tries for ever when the process ends.
 */
import { write, writeSync } from 'node:fs';

/** Lines that wait; what comes beyond is counted and dropped. Unit: characters. */
const KEPT = 4 * 1024 * 1024;
/** Of one write. Unit: characters. */
const CHUNK = 64 * 1024;
const AGAIN_MS = 500;
/** How long the end of the process waits for an output that takes nothing. */
const END_MS = 1_000;

export interface LostLines {
  lines: number;
  /** What the output last answered: `ENOSPC`, say. */
  code: string | null;
}

/** The parts of node:fs that write; others for tests. */
export interface Descriptor {
  write: (bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void;
  writeSync: (bytes: Buffer) => number;
}

const descriptor = (fd: number): Descriptor => ({
  write: (bytes, done) => write(fd, bytes, done),
  writeSync: (bytes) => writeSync(fd, bytes),
});

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';

/** Those with lines that wait: the end of the process writes them. */
const unfinished = new Set<LogOutput>();
process.on('exit', () => {
  for (const output of unfinished) output.end();
});

export class LogOutput {
  #lines: string[] = [];
  #kept = 0;
  /** What is being written, or was and has to be tried again. */
  #bytes: Buffer = Buffer.alloc(0);
  #state: 'idle' | 'writing' | 'failing' | 'closed' = 'idle';
  #lost: LostLines = { lines: 0, code: null };
  #flushed: (() => void)[] = [];

  /** @param lost hears what was dropped, as soon as the output takes lines again */
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

  /** Calls back when nothing waits any longer, or the output takes nothing; it may do so twice. */
  flush(done: () => void): void {
    if (this.#state !== 'writing') {
      done();
      return;
    }
    this.#flushed.push(done);
    setTimeout(done, END_MS).unref();
  }

  /** Writes what still waits, at once, as far as the output takes it. */
  end(): void {
    // What a thread is writing is written there.
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

  /** Whether there is something to write. */
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
      // Nobody reads any longer, and nobody will.
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
