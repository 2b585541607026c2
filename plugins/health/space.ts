/**
 * Whether there is room for what intakes write (contract 00, limits). The disk is asked once a second at most, and behind the
 * question: an answer is as of the last time. What cannot be asked is not short; the health report says that it could not.
 */
import { inject, injectable, PORT, type Clock, type Logger } from '../../kernel/contract.js';
import { SYSTEM, type SystemInfo } from '../../ports/domain/system.js';
import type { StorageSpace } from '../../ports/domain/health.js';
import { CONFIG, type HealthConfig } from './service.js';

const FRESH_MS = 1_000;

@injectable()
export class DiskSpace implements StorageSpace {
  #short = false;
  #askedAt: number | null = null;

  constructor(
    @inject(SYSTEM) private readonly system: Pick<SystemInfo, 'freeBytes'>,
    @inject(PORT.clock) private readonly clock: Pick<Clock, 'monotonic'>,
    @inject(CONFIG) private readonly config: HealthConfig,
    @inject(PORT.log) private readonly log: Pick<Logger, 'warn' | 'info'>,
  ) {}

  short(): boolean {
    const now = this.clock.monotonic();
    if (this.config.min_free_bytes > 0 && (this.#askedAt === null || now - this.#askedAt >= FRESH_MS)) {
      this.#askedAt = now;
      void this.ask();
    }
    return this.#short;
  }

  /** Looks at the disk; a change is told in the log once. */
  async ask(): Promise<void> {
    const free = await this.system.freeBytes().catch(() => null);
    const { min_free_bytes } = this.config;
    const short = free !== null && free < min_free_bytes;
    if (short === this.#short) return;
    this.#short = short;
    if (short) this.log.warn({ free_bytes: free, min_free_bytes }, 'little room is left: intakes answer 507');
    else this.log.info({ free_bytes: free }, 'there is room again: intakes take reports');
  }
}
