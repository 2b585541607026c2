/** In parts that do not block the event loop (contract 30, endpoints: /status). */
import { inject, injectable, invalidQuery } from '../../../kernel/contract/index.js';
import { DEPS } from '../deps.js';
import { getUptimeDays } from '../model/uptime.js';
import type { Clock } from '../../../ports/clock.js';
import type { MonitorDoc } from '../model/documents.js';
import type { Collection } from '../../../ports/store/index.js';

/** The largest page (200 monitors) with all stored days (400). */
export const MAX_DAYS_PER_RESPONSE = 80_000;
const MAX_DAYS_PER_READ = 4_000;
const MAX_MONITORS_PER_READ = 200;

@injectable()
export class DailyUptimeReader {
  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
  ) {}

  /**
   * @param monitors to be requested
   * @param days 1 to 400
   * @throws ServiceError invalid_request when one response cannot hold them
   */
  createReading(monitors: number, days: number): UptimeBatchReader {
    if (monitors * days > MAX_DAYS_PER_RESPONSE) {
      const most = Math.floor(MAX_DAYS_PER_RESPONSE / monitors);
      const fewer = most > 0 ? `request at most ${most} days, or ` : '';
      const uptime = `${days} days of ${monitors} monitors are too many: ${fewer}request pages with limit and cursor`;
      throw invalidQuery({ uptime });
    }
    const now = this.clock.now();
    const of = (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => this.#read(ids, now, days);
    return { part: Math.min(MAX_MONITORS_PER_READ, Math.floor(MAX_DAYS_PER_READ / days)), of };
  }

  async #read(ids: readonly string[], now: number, days: number): Promise<ReadonlyMap<string, string>> {
    const { items } = await this.monitors.find({
      filter: { id: { in: ids }, deleted_at: null },
      limit: ids.length,
      damaged: () => undefined,
    });
    return new Map(items.map((doc) => [doc.id, JSON.stringify(getUptimeDays(doc, now, days))]));
  }
}

export interface UptimeBatchReader {
  part: number;
  of: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}
