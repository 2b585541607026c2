/**
 * An output that is full, slow or gone neither ends the service, nor blocks its exit, nor fills its
 * memory.
 */
import { write, writeSync } from 'node:fs';

/** Lines beyond it are counted and dropped. */
const MAX_QUEUED_CHARACTERS = 4 * 1024 * 1024;
const CHUNK_CHARACTERS = 64 * 1024;
const RETRY_DELAY_MS = 500;
/** How long process exit waits for a blocked output. */
const EXIT_TIMEOUT_MS = 1_000;

export interface LostLines {
  lines: number;
  /** Last error code of the output, for example `ENOSPC`. */
  code: string | null;
}

/** The write functions of node:fs; tests replace them. */
export interface LogDescriptor {
  write: (bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void;
  writeSync: (bytes: Buffer) => number;
}

const openDescriptor = (fd: number): LogDescriptor => ({
  write: (bytes, done) => write(fd, bytes, done),
  writeSync: (bytes) => writeSync(fd, bytes),
});

const getErrorCode = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';

const pendingOutputs = new Set<LogOutput>();
process.on('exit', () => {
  for (const output of pendingOutputs) output.flushSync();
});

export class LogOutput {
  #lines: string[] = [];
  #queuedCharacters = 0;
  #chunk: Buffer = Buffer.alloc(0);
  #state: 'idle' | 'writing' | 'failing' | 'closed' = 'idle';
  #lost: LostLines = { lines: 0, code: null };
  #flushCallbacks: (() => void)[] = [];

  constructor(
    private readonly output: LogDescriptor,
    private readonly lost: (what: LostLines) => void,
  ) {}

  static open(fd: 1 | 2, lost: (what: LostLines) => void): LogOutput {
    return new LogOutput(openDescriptor(fd), lost);
  }

  write(line: string): void {
    if (this.#state === 'closed') return;
    if (this.#queuedCharacters + line.length > MAX_QUEUED_CHARACTERS) {
      this.#lost.lines += 1;
      return;
    }
    this.#lines.push(line);
    this.#queuedCharacters += line.length;
    pendingOutputs.add(this);
    if (this.#state === 'idle') this.#writeNext();
  }

  /** `done` may be called twice. */
  flush(done: () => void): void {
    if (this.#state !== 'writing') {
      done();
      return;
    }
    this.#flushCallbacks.push(done);
    setTimeout(done, EXIT_TIMEOUT_MS).unref();
  }

  flushSync(): void {
    // A pending asynchronous write completes by itself.
    if (this.#state === 'writing') this.#chunk = Buffer.alloc(0);
    const until = Date.now() + EXIT_TIMEOUT_MS;
    while (this.#state !== 'closed' && this.#fillChunk()) {
      try {
        this.#chunk = this.#chunk.subarray(this.output.writeSync(this.#chunk));
      } catch (error) {
        if (getErrorCode(error) !== 'EAGAIN' || Date.now() > until) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      }
    }
  }

  #fillChunk(): boolean {
    if (this.#chunk.length === 0) {
      let length = 0;
      let count = 0;
      while (count < this.#lines.length && length < CHUNK_CHARACTERS) length += this.#lines[count++]?.length ?? 0;
      this.#queuedCharacters -= length;
      this.#chunk = Buffer.from(this.#lines.splice(0, count).join(''));
    }
    return this.#chunk.length > 0;
  }

  #writeNext(): void {
    if (!this.#fillChunk()) {
      this.#stop('idle');
      return;
    }
    this.#state = 'writing';
    this.output.write(this.#chunk, (error, written) =>
      error ? this.#handleFailure(error) : this.#handleWritten(written),
    );
  }

  #handleWritten(written: number): void {
    this.#chunk = this.#chunk.subarray(written);
    if (this.#lost.lines > 0 && this.#chunk.length === 0) {
      const lost = this.#lost;
      this.#lost = { lines: 0, code: null };
      this.lost(lost);
    }
    this.#writeNext();
  }

  #handleFailure(error: NodeJS.ErrnoException): void {
    this.#lost.code = getErrorCode(error);
    if (this.#lost.code === 'EPIPE') {
      // The reader has closed the pipe.
      this.#lines = [];
      this.#stop('closed');
      return;
    }
    this.#stop('failing');
    setTimeout(() => this.#writeNext(), RETRY_DELAY_MS).unref();
  }

  #stop(state: 'idle' | 'failing' | 'closed'): void {
    this.#state = state;
    if (state !== 'failing') pendingOutputs.delete(this);
    for (const done of this.#flushCallbacks.splice(0)) done();
  }
}
