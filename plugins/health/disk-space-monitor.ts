/**
 * The disk is read in the background, at most once a second (contract 00, limits). A failed read
 * does not count as short.
 */
import { inject, injectable, PORT, type Clock, type Logger } from '../../kernel/contract/index.js';
import { RUNTIME, type ServiceRuntime } from '../../ports/domain/system.js';
import type { StorageSpace } from '../../ports/domain/health.js';
import { CONFIG, type HealthConfig } from './health-service.js';

const CACHE_TTL_MS = 1_000;

@injectable()
export class DiskSpaceMonitor implements StorageSpace {
  #short = false;
  #askedAt: number | null = null;

  constructor(
    @inject(RUNTIME) private readonly runtime: Pick<ServiceRuntime, 'getFreeBytes'>,
    @inject(PORT.clock) private readonly clock: Pick<Clock, 'monotonic'>,
    @inject(CONFIG) private readonly config: HealthConfig,
    @inject(PORT.log) private readonly log: Pick<Logger, 'warn' | 'info'>,
  ) {}

  isLow(): boolean {
    const now = this.clock.monotonic();
    if (this.config.min_free_bytes > 0 && (this.#askedAt === null || now - this.#askedAt >= CACHE_TTL_MS)) {
      this.#askedAt = now;
      void this.refresh();
    }
    return this.#short;
  }

  async refresh(): Promise<void> {
    const free = await this.runtime.getFreeBytes().catch(() => null);
    const { min_free_bytes } = this.config;
    const short = free !== null && free < min_free_bytes;
    if (short === this.#short) return;
    this.#short = short;
    if (short) this.log.warn({ free_bytes: free, min_free_bytes }, 'disk space is low: intakes respond with 507');
    else this.log.info({ free_bytes: free }, 'disk space is available again: intakes accept reports');
  }
}
