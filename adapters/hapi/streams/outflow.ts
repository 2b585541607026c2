/**
 * A long answer on its way out: written as fast as the other side takes it, and given up when the other side takes too
 * little. hapi's own streams were tried: they are piped without a look at a client that reads nothing, and compress
 * what may not be compressed.
 */
import type { ServerResponse } from 'node:http';

/** Bytes per second that a reader must take, measured over each piece. */
const LEAST_RATE = 1_024;

export class Outflow {
  /** Wakes everyone who waits: a heartbeat may come while an event is being written. */
  readonly #waiting = new Set<() => void>();
  #cut = false;

  /** @param stallMs the connection is cut when nothing moved for this time */
  constructor(
    private readonly res: ServerResponse,
    private readonly stallMs: number,
  ) {
    res.setTimeout(stallMs, () => this.cut());
    res.on('close', () => this.#wake());
  }

  /** Whether something written is still on its way. */
  get busy(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether nobody reads any longer. */
  get closed(): boolean {
    const { destroyed, closed, socket } = this.res;
    // A broken connection tells its answer only at the next turn. An answer that waits for its turn has no connection
    // yet.
    return this.#cut || destroyed || closed || socket?.writable === false;
  }

  /** Writes pieces. Resolves when the system has taken them and they are free; false: nobody reads any longer. */
  async write(...pieces: readonly (Uint8Array | string)[]): Promise<boolean> {
    const { res } = this;
    if (this.closed) return false;
    let ok = true;
    let taken = (): void => undefined;
    const last = pieces.at(-1) ?? '';
    res.cork();
    for (const piece of pieces.slice(0, -1)) res.write(piece);
    res.write(last, (error) => {
      ok = !error;
      taken();
    });
    res.uncork();
    if (res.writableLength === 0) return true;
    const slow = setTimeout(() => this.cut(), this.stallMs + (res.writableLength / LEAST_RATE) * 1000);
    await new Promise<void>((resolve) => {
      taken = resolve;
      this.#waiting.add(resolve);
    });
    this.#waiting.delete(taken);
    clearTimeout(slow);
    return ok && !this.closed;
  }

  /** Ends the connection. An answer that waits for its turn has no connection yet, and never hears of its end. */
  cut(): void {
    this.#cut = true;
    this.res.req.socket?.destroy();
    this.res.destroy();
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
