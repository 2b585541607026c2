/** Writes the server's address to `server.json` for other programs (contract 95, command line). */
import type { Logger } from '../../ports/logger.js';

const DISK_FULL_CODES = new Set(['ENOSPC', 'EDQUOT']);
const RETRY_INTERVAL_MS = 5_000;

export class ServerFileWriter {
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(
    private readonly write: (url: string) => Promise<void>,
    private readonly log: Logger,
    private readonly againMs = RETRY_INTERVAL_MS,
  ) {}

  /** @throws file system errors other than a full disk */
  async publish(url: string): Promise<void> {
    if (await this.#tryWrite(url)) return;
    this.log.warn({}, 'the disk of the data directory is full: server.json will be written when space is available');
    this.#timer = setInterval(() => {
      this.#last = this.#retry(url);
    }, this.againMs).unref();
  }

  /** Nothing is written once this resolves. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#last;
  }

  async #retry(url: string): Promise<void> {
    try {
      if (!(await this.#tryWrite(url))) return;
    } catch (err) {
      this.log.warn({ err }, 'server.json was not written');
    }
    clearInterval(this.#timer);
  }

  async #tryWrite(url: string): Promise<boolean> {
    try {
      await this.write(url);
      return true;
    } catch (error) {
      if (DISK_FULL_CODES.has((error as NodeJS.ErrnoException).code ?? '')) return false;
      throw error;
    }
  }
}
