/** One inventory of the machines that check for updates, use a license or send heartbeats. */
import { definePlugin, extend } from '../../kernel/contract/index.js';
import { DAY_MS, HOUR_MS, toIsoString } from '../../lib/time.js';
import { MACHINE_RELEASES, MACHINES } from '../../ports/domain/machines/inventory.js';
import { PROJECT_CLEANUPS } from '../../ports/domain/projects.js';
import { removeAll } from '../../ports/store/remove-all.js';
import { MachineDayCounter } from './day-counts.js';
import { COLLECTIONS, type DayDoc, type InventoryDoc } from './documents.js';
import { MachineInventoryService } from './machine-inventory.js';
import { FIND_MACHINE_RELEASES, MACHINE_LOG, MACHINE_ROWS, MachineReportWriter } from './report-writer.js';

const RETENTION_MS = 90 * DAY_MS;

export default definePlugin({
  id: 'machines',
  version: '1.0.0',
  api: 1,
  title: 'Machines',
  provides: [MACHINES.name],
  extensionPoints: [MACHINE_RELEASES.point],
  extends: [PROJECT_CLEANUPS.point],
  collections: COLLECTIONS,
  from: import.meta.url,
  setup(ctx) {
    const rows = ctx.collection<InventoryDoc>('machines');
    ctx.bind(MACHINE_ROWS, rows);
    ctx.bind(MACHINE_LOG, ctx.log);
    ctx.bind(FIND_MACHINE_RELEASES, () => ctx.extensions(MACHINE_RELEASES)[0]);
    const { writer, inventory, dayCounts } = ctx.services({
      writer: MachineReportWriter,
      inventory: MachineInventoryService,
      dayCounts: MachineDayCounter,
    });
    const clear = async (project: string): Promise<void> => {
      await removeAll(rows, { project });
      await removeAll(ctx.collection<DayDoc>('days'), { project });
    };
    return {
      services: { [MACHINES.name]: inventory },
      extensions: [extend(PROJECT_CLEANUPS, { clear })],
      jobs: [
        { name: 'days', everyMs: HOUR_MS, timeoutMs: HOUR_MS, run: () => dayCounts.record() },
        {
          name: 'clean',
          everyMs: HOUR_MS,
          timeoutMs: HOUR_MS,
          removesByAge: true,
          run: async ({ signal }) => {
            const last_seen_at = { lt: toIsoString(ctx.clock.now() - RETENTION_MS) };
            await removeAll(rows, { last_seen_at }, signal);
            await dayCounts.deleteExpired(signal);
          },
        },
      ],
      stop: () => writer.stop(),
    };
  },
});
