/**
 * Tells programs where this server listens, in `server.json` (contract 95, command line). A disk without room for it
 * holds up nothing: reads go on there, so the server does, and tells it once there is room.
 */
import type { Logger } from '../../ports/logger.js';

const FULL = new Set(['ENOSPC', 'EDQUOT']);
const AGAIN_MS = 5_000;

export class Announcement {
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();

  /** @param write puts the file in place, whole @param againMs between two tries */
  constructor(
    private readonly write: (url: string) => Promise<void>,
    private readonly log: Logger,
    private readonly againMs = AGAIN_MS,
  ) {}

  /** @throws what the file system says, but for a disk that is full */
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

  /** False: there is no room. */
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
