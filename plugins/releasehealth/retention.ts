import { collection, inject, injectable, PORT, token, type Clock } from '../../kernel/contract/index.js';
import { DAY_MS, toIsoString } from '../../lib/time.js';
import type { Collection } from '../../ports/store/index.js';
import { removeAll } from '../../ports/store/remove-all.js';
import type { ReleaseHealthConfig } from './config.js';
import type { HourDoc, TroubledDoc } from './model.js';

export const CONFIG = token<ReleaseHealthConfig>('releasehealth.config');

const SESSION_NOTE_RETENTION_MS = DAY_MS;

@injectable()
export class HealthRetention {
  constructor(
    @inject(collection<HourDoc>('hours')) private readonly hours: Collection<HourDoc>,
    @inject(collection<TroubledDoc>('troubled')) private readonly troubledSessions: Collection<TroubledDoc>,
    @inject(CONFIG) private readonly config: ReleaseHealthConfig,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  async removeProject(project: string): Promise<void> {
    await removeAll(this.hours, { project });
  }

  async run(signal: AbortSignal): Promise<void> {
    const now = this.clock.now();
    await removeAll(this.hours, { hour: { lt: toIsoString(now - this.config.days * DAY_MS) } }, signal);
    await removeAll(this.troubledSessions, { at: { lt: toIsoString(now - SESSION_NOTE_RETENTION_MS) } }, signal);
  }
}
