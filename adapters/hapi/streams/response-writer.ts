/** Writes a long response at the reader's pace and aborts when the reader is too slow. */
import type { ServerResponse } from 'node:http';

const MIN_BYTES_PER_SECOND = 1_024;

export class ResponseWriter {
  /** A heartbeat can occur while an event is being written. */
  readonly #waiting = new Set<() => void>();
  #cut = false;

  constructor(
    private readonly res: ServerResponse,
    private readonly stallMs: number,
  ) {
    res.setTimeout(stallMs, () => this.abort());
    res.on('close', () => this.#wakeWaiters());
  }

  get isBusy(): boolean {
    return this.#waiting.size > 0;
  }

  get isClosed(): boolean {
    const { destroyed, closed, socket } = this.res;
    // A broken connection is only reported in the next turn of the event loop. A queued response
    // has no connection yet.
    return this.#cut || destroyed || closed || socket?.writable === false;
  }

  /** Resolves when the system has taken the pieces; false: the reader has disconnected. */
  async write(...pieces: readonly (Uint8Array | string)[]): Promise<boolean> {
    const { res } = this;
    if (this.isClosed) return false;
    let ok = true;
    let resolveWrite = (): void => undefined;
    const last = pieces.at(-1) ?? '';
    res.cork();
    for (const piece of pieces.slice(0, -1)) res.write(piece);
    res.write(last, (error) => {
      ok = !error;
      resolveWrite();
    });
    res.uncork();
    if (res.writableLength === 0) return true;
    const slow = setTimeout(() => this.abort(), this.stallMs + (res.writableLength / MIN_BYTES_PER_SECOND) * 1000);
    await new Promise<void>((resolve) => {
      resolveWrite = resolve;
      this.#waiting.add(resolve);
    });
    this.#waiting.delete(resolveWrite);
    clearTimeout(slow);
    return ok && !this.isClosed;
  }

  /** A queued response has no connection yet and never sees its end. */
  abort(): void {
    this.#cut = true;
    this.res.req.socket?.destroy();
    this.res.destroy();
    this.#wakeWaiters();
  }

  #wakeWaiters(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
