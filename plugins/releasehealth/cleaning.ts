/** What leaves by itself: old hours, and notes of sessions that no SDK tells of any more. */
import { collection, inject, injectable, PORT, token, type Clock } from '../../kernel/contract.js';
import { DAY_MS, isoOf } from '../../lib/time.js';
import type { Collection, Doc, Filter } from '../../ports/store.js';
import type { ReleaseHealthConfig } from './config.js';
import type { HourDoc, TroubledDoc } from './model.js';

export const CONFIG = token<ReleaseHealthConfig>('releasehealth.config');

/** A session that goes on for longer counts its error once more. */
const NOTES_MS = DAY_MS;
const AT_ONCE = 500;

@injectable()
export class HealthCleaning {
  constructor(
    @inject(collection<HourDoc>('hours')) private readonly hours: Collection<HourDoc>,
    @inject(collection<TroubledDoc>('troubled')) private readonly troubled: Collection<TroubledDoc>,
    @inject(CONFIG) private readonly config: ReleaseHealthConfig,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  /** A project goes. */
  forget(project: string): Promise<void> {
    return removeAll(this.hours, { project });
  }

  async run(signal: AbortSignal): Promise<void> {
    const now = this.clock.now();
    await removeAll(this.hours, { hour: { lt: isoOf(now - this.config.days * DAY_MS) } }, signal);
    await removeAll(this.troubled, { at: { lt: isoOf(now - NOTES_MS) } }, signal);
  }
}

/** In steps, so that a write of others waits for few removals. */
async function removeAll<T extends Doc>(rows: Collection<T>, filter: Filter, signal?: AbortSignal): Promise<void> {
  for (let removed = AT_ONCE; removed === AT_ONCE;) {
    if (signal?.aborted === true) return;
    removed = await rows.remove(filter, AT_ONCE);
  }
}
