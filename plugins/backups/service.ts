import {
  inject,
  injectable,
  PORT,
  token,
  type Clock,
  type HealthResult,
  type Logger,
} from '../../kernel/contract/index.js';
import type { BackupInfo, Backups } from '../../ports/store/backups.js';
import type { BackupsConfig } from './config.js';
import { isBackupDue, isBackupOverdue, type ScheduleState } from './schedule.js';

export const CONFIG = token<BackupsConfig>('config');
const HOUR_MS = 3_600_000;
const OFFSITE_COPY_NOTE = 'the operator is responsible for copies on another disk or machine';

@injectable()
export class BackupService {
  readonly #began: number;
  #failed: { at: number; error: string } | null = null;

  constructor(
    @inject(PORT.backups) private readonly backups: Backups,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.log) private readonly log: Logger,
    @inject(CONFIG) private readonly config: BackupsConfig,
  ) {
    this.#began = clock.monotonic();
  }

  /**
   * Makes a backup if one is due.
   * @throws Error (one sentence) when it fails
   */
  async runIfDue(signal: AbortSignal): Promise<void> {
    const { backups } = this;
    if (backups.folder === null || !isBackupDue(this.#state(await backups.findNewest()))) return;
    const began = this.clock.monotonic();
    try {
      const { path, bytes } = await backups.create({ signal });
      this.#failed = null;
      this.log.info({ path, bytes, ms: Math.round(this.clock.monotonic() - began) }, 'made a backup');
    } catch (error) {
      this.#failed = { at: this.clock.monotonic(), error: error instanceof Error ? error.message : String(error) };
      throw error;
    }
  }

  /** Null when the database is not the embedded store. */
  get folder(): string | null {
    return this.backups.folder;
  }

  getNewest(): Promise<BackupInfo | null> {
    return this.backups.findNewest();
  }

  async checkHealth(): Promise<HealthResult> {
    const { backups } = this;
    const nothing = { last_at: null, path: null };
    if (backups.folder === null)
      return { ok: true, ...nothing, note: 'the database is not the embedded store: back it up with its own tools' };
    const newest = await backups.findNewest();
    const state = this.#state(newest);
    const known = {
      last_at: newest?.at ?? null,
      path: newest?.path ?? backups.folder,
      last_bytes: newest?.bytes ?? null,
    };
    if (this.#failed !== null) return { ok: false, ...known, error: this.#failed.error };
    if (isBackupOverdue(state))
      return { ok: false, ...known, error: 'a scheduled backup was not created: see the job backups.make' };
    return { ok: true, ...known, note: state.everyMs === 0 ? `switched off; ${OFFSITE_COPY_NOTE}` : OFFSITE_COPY_NOTE };
  }

  hasSucceeded(): boolean {
    return this.#failed === null;
  }

  #state(newest: BackupInfo | null): ScheduleState {
    const monotonic = this.clock.monotonic();
    return {
      everyMs: this.config.every_hours * HOUR_MS,
      runningMs: monotonic - this.#began,
      newestAgeMs: newest === null ? null : this.clock.now() - Date.parse(newest.at),
      failedAgoMs: this.#failed === null ? null : monotonic - this.#failed.at,
    };
  }
}
