/**
 * One run of the pending migrations, watched from a page. The run goes on after the request that started it, so that a
 * long migration shows its progress; the migrator's lease keeps two processes apart, so this only remembers our own
 * run.
 */
import { inject, injectable, PORT, type Clock, type Logger } from '../../kernel/contract.js';
import type { Principal } from '../../ports/http.js';
import { AUDIT, type AuditLog } from '../../ports/domain/audit.js';
import { MIGRATIONS, RUNTIME, type ServiceMigrations, type ServiceRuntime } from '../../ports/domain/system.js';

export interface MigrationResult {
  applied: readonly string[];
  pending: readonly string[];
}

export interface RunState {
  started_at: string;
  /** How many were pending when it began. */
  total: number;
}

@injectable()
export class MigrationRun {
  #running: (RunState & { done: Promise<MigrationResult> }) | null = null;
  #failure: string | null = null;

  constructor(
    @inject(MIGRATIONS) private readonly schema: ServiceMigrations,
    @inject(RUNTIME) private readonly runtime: Pick<ServiceRuntime, 'engine'>,
    @inject(AUDIT) private readonly audit: AuditLog,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  /** The run under way in this process, or null. */
  get state(): RunState | null {
    return this.#running;
  }

  /** Why the last run of this process stopped; null after a good one. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Runs what is pending, or joins the run under way. The audit log has it before this resolves. */
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

  /** Starts a run and waits at most `patienceMs` for it. Null: it goes on, and the page shows how far it is. */
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
      // A run that outlives this call fails into `failure`, which the page shows; no caller awaits it any more.
      run.catch((error: unknown) => this.log.error({ err: error }, 'the migration run failed'));
    }
  }

  /** Resolves when no run is under way. */
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
