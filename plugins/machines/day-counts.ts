/** Counts machines by version once an hour, so that adoption over days can be shown. */
import { collection, inject, injectable, PORT, type Clock, type Collection } from '../../kernel/contract/index.js';
import { DAY_MS, toIsoString } from '../../lib/time.js';
import type { MachineDay } from '../../ports/domain/machines/inventory.js';
import { removeAll } from '../../ports/store/remove-all.js';
import type { DayDoc, InventoryDoc } from './documents.js';
import { MACHINE_ROWS } from './report-writer.js';

const RETENTION_DAYS = 90;
const MAX_VERSIONS = 30;

type VersionCount = [version: string | null, machines: number];

@injectable()
export class MachineDayCounter {
  constructor(
    @inject(collection<DayDoc>('days')) private readonly days: Collection<DayDoc>,
    @inject(MACHINE_ROWS) private readonly rows: Collection<InventoryDoc>,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  /** Replaces the counts of today. */
  async record(): Promise<void> {
    const day = this.#getDay(0);
    const projects = new Map<string, Map<string | null, number>>();
    for (const { key, n } of await this.rows.groupCount('place')) {
      const [project, , , version] = JSON.parse(String(key)) as [string, string, string | null, string | null];
      const counts = projects.get(project) ?? new Map<string | null, number>();
      projects.set(project, counts.set(version, (counts.get(version) ?? 0) + n));
    }
    for (const [project, counts] of projects) {
      const set = { project, day, counts: formatCounts([...counts]) };
      await this.days.change({ id: `${project} ${day}` }, { set }, { upsert: true });
    }
  }

  /** Lists oldest first, without today. */
  async list(project: string, days: number): Promise<MachineDay[]> {
    const filter = { project, day: { gte: this.#getDay(days - 1), lt: this.#getDay(0) } };
    const { items } = await this.days.find({ filter, sort: [['day', 'asc']], limit: days });
    return items.map(({ day, counts }) => toMachineDay(day, JSON.parse(counts) as VersionCount[]));
  }

  async deleteExpired(signal?: AbortSignal): Promise<void> {
    await removeAll(this.days, { day: { lt: this.#getDay(RETENTION_DAYS) } }, signal);
  }

  /** @param before days before today */
  #getDay(before: number): string {
    return toIsoString(this.clock.now() - before * DAY_MS).slice(0, 10);
  }
}

const formatCounts = (counts: VersionCount[]): string =>
  JSON.stringify(counts.toSorted(([, a], [, b]) => b - a).slice(0, MAX_VERSIONS));

const toMachineDay = (day: string, counts: readonly VersionCount[]): MachineDay => ({
  day,
  versions: counts.map(([version, machines]) => ({ version, machines })),
});
