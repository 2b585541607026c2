/**
 * Writes the server's address to `server.json` for other programs (contract 95, command line). On a
 * full disk the server starts anyway, and the write is retried.
 */
import type { Logger } from '../../ports/logger.js';

const FULL = new Set(['ENOSPC', 'EDQUOT']);
const AGAIN_MS = 5_000;

export class Announcement {
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();

  /**
   * @param write writes the file atomically
   * @param againMs retry interval
   */
  constructor(
    private readonly write: (url: string) => Promise<void>,
    private readonly log: Logger,
    private readonly againMs = AGAIN_MS,
  ) {}

  /** @throws file system errors other than a full disk */
  async tell(url: string): Promise<void> {
    if (await this.#written(url)) return;
    this.log.warn({}, 'the disk of the data directory is full: server.json is written once there is room');
    this.#timer = setInterval(() => {
      this.#last = this.#again(url);
    }, this.againMs).unref();
  }

  /** Nothing is written once this resolves. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#last;
  }

  async #again(url: string): Promise<void> {
    try {
      if (!(await this.#written(url))) return;
    } catch (err) {
      this.log.warn({ err }, 'server.json was not written');
    }
    clearInterval(this.#timer);
  }

  async #written(url: string): Promise<boolean> {
    try {
      await this.write(url);
      return true;
    } catch (error) {
      if (FULL.has((error as NodeJS.ErrnoException).code ?? '')) return false;
      throw error;
    }
  }
}
