/** A check that hangs or throws never hides the others. */
import { inject, injectable, PORT, token, type Clock } from '../../kernel/contract/index.js';
import { MIGRATIONS, RUNTIME, type ServiceMigrations, type ServiceRuntime } from '../../ports/domain/system.js';
import type { Jobs } from '../../ports/jobs.js';
import { IntegrityChecker } from './integrity-checker.js';
import { buildHealthReport, type HealthFindings, type HealthReport } from './health-report.js';

const CHECK_TIMEOUT_MS = 3_000;
const READY_CACHE_MS = 1_000;

export interface HealthConfig {
  min_free_bytes: number;
}

export const CONFIG = token<HealthConfig>('config');

export class CheckTimeoutError extends Error {
  override name = 'NoAnswer';
}

@injectable()
export class HealthService {
  #probe: { at: number; ready: Promise<boolean> } | null = null;

  constructor(
    @inject(RUNTIME) private readonly runtime: ServiceRuntime,
    @inject(MIGRATIONS) private readonly schema: ServiceMigrations,
    @inject(PORT.jobs) private readonly jobs: Pick<Jobs, 'list'>,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(CONFIG) private readonly config: HealthConfig,
    @inject(IntegrityChecker) private readonly integrity: Pick<IntegrityChecker, 'getStatus'>,
  ) {}

  async getReport(): Promise<HealthReport> {
    const { runtime } = this;
    const [latency, schema, free, jobs, own, integrity, clock] = await Promise.all([
      settleWithin(runtime.pingStore()),
      settleWithin(this.schema.listMigrations()),
      settleWithin(runtime.getFreeBytes()),
      settleWithin(this.jobs.list()),
      settleWithin(runtime.checkHealth(), 2 * CHECK_TIMEOUT_MS),
      settleWithin(this.integrity.getStatus()),
      settleWithin(runtime.checkClock()),
    ]);
    const findings: HealthFindings = {
      database: 'value' in latency ? { latency_ms: Math.round(latency.value * 100) / 100 } : latency,
      schema: 'value' in schema ? { current: schema.value.current, pending: schema.value.pending } : schema,
      integrity: 'value' in integrity ? integrity.value : null,
      free_bytes: 'value' in free ? free.value : null,
      clock: 'value' in clock ? clock.value : null,
      peers: runtime.countProcesses(),
      unlisted_proxies: runtime.listUnlistedProxies().map(({ address }) => address),
      jobs: 'value' in jobs ? jobs.value : jobs,
      plugins: runtime.listPlugins(),
      own: 'value' in own ? own.value : {},
    };
    return buildHealthReport(findings, {
      version: runtime.version,
      time: this.clock.iso(),
      uptime_seconds: this.getUptimeSeconds(),
      min_free_bytes: this.config.min_free_bytes,
    });
  }

  getUptimeSeconds(): number {
    return Math.max(0, Math.floor((this.clock.now() - Date.parse(this.runtime.started_at)) / 1000));
  }

  /** The store responds and every critical plugin is ready. */
  isReady(): Promise<boolean> {
    const at = this.clock.monotonic();
    if (this.#probe === null || at - this.#probe.at >= READY_CACHE_MS) this.#probe = { at, ready: this.#checkStore() };
    return this.#probe.ready;
  }

  async #checkStore(): Promise<boolean> {
    if (this.runtime.listPlugins().some((plugin) => plugin.critical && plugin.state !== 'ready')) return false;
    return 'value' in (await settleWithin(this.runtime.pingStore()));
  }
}

async function settleWithin<T>(
  question: Promise<T>,
  patience = CHECK_TIMEOUT_MS,
): Promise<{ value: T } | { error: string }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new CheckTimeoutError(`no response within ${patience / 1000} s`)), patience);
  });
  try {
    return { value: await Promise.race([question, late]) };
  } catch (error) {
    // Messages of drivers may contain addresses, so callers only see the kind of error.
    return {
      error: error instanceof CheckTimeoutError ? error.message : error instanceof Error ? error.name : 'failed',
    };
  } finally {
    clearTimeout(timer);
  }
}
