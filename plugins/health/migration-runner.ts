/** The migrator's lease excludes other processes, so only the run of this process is tracked. */
import { inject, injectable, PORT, type Clock, type Logger } from '../../kernel/contract/index.js';
import type { Principal } from '../../ports/http/index.js';
import { AUDIT, type AuditLog } from '../../ports/domain/audit.js';
import { MIGRATIONS, RUNTIME, type ServiceMigrations, type ServiceRuntime } from '../../ports/domain/system.js';

export interface MigrationResult {
  applied: readonly string[];
  pending: readonly string[];
}

export interface MigrationRunState {
  started_at: string;
  total: number;
}

@injectable()
export class MigrationRunner {
  #running: (MigrationRunState & { done: Promise<MigrationResult> }) | null = null;
  #failure: string | null = null;

  constructor(
    @inject(MIGRATIONS) private readonly schema: ServiceMigrations,
    @inject(RUNTIME) private readonly runtime: Pick<ServiceRuntime, 'engine'>,
    @inject(AUDIT) private readonly audit: AuditLog,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  get currentRun(): MigrationRunState | null {
    return this.#running;
  }

  get lastFailure(): string | null {
    return this.#failure;
  }

  /** Or joins the current run. Resolves after the audit entry is written. */
  async run(by: Principal): Promise<MigrationResult> {
    if (this.#running) return this.#running.done;
    const running = { started_at: this.clock.iso(), total: 0, done: this.#migrate(by) };
    this.#running = running;
    try {
      return await running.done;
    } finally {
      this.#running = null;
    }
  }

  async start(by: Principal, total: number, patienceMs: number): Promise<MigrationResult | null> {
    const run = this.run(by);
    if (this.#running) this.#running.total = total;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, patienceMs, null);
    });
    try {
      return await Promise.race([run, patience]);
    } finally {
      clearTimeout(timer);
      // A run that outlives this call reports its error in `lastFailure`, because no caller awaits
      // it.
      run.catch((error: unknown) => this.log.error({ err: error }, 'the migration run failed'));
    }
  }

  async waitUntilIdle(): Promise<void> {
    await this.#running?.done.catch((error: unknown) => this.log.error({ err: error }, 'the migration run failed'));
  }

  async #migrate(by: Principal): Promise<MigrationResult> {
    this.#failure = null;
    try {
      const result = await this.schema.migrate();
      if (result.applied.length > 0) {
        await this.audit.record(by, 'migrations.applied', this.runtime.engine, { count: result.applied.length });
      }
      return result;
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : 'unknown fault';
      throw error;
    }
  }
}
