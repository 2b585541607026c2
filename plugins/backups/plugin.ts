/** Scheduled backups of the embedded store (contract 95, command line). */
import { definePlugin } from '../../kernel/contract.js';
import { backupsConfig, type BackupsConfig } from './config.js';
import { BackupService } from './service.js';

const LOOK_MS = 300_000;
const TIMEOUT_MS = 6 * 3_600_000;

export default definePlugin<BackupsConfig>({
  id: 'backups',
  version: '1.0.0',
  api: 1,
  title: 'Backups',
  ports: ['backups'],
  config: backupsConfig,
  from: import.meta.url,
  setup(ctx) {
    const { service } = ctx.services({ service: BackupService });
    const { metrics } = ctx.ports;
    return {
      jobs: [{ name: 'make', everyMs: LOOK_MS, timeoutMs: TIMEOUT_MS, run: ({ signal }) => service.tick(signal) }],
      health: () => service.health(),
      start: async () => {
        metrics.gauge(
          'aos_backups_newest_timestamp_seconds',
          'When the newest backup was made; NaN: there is none',
          async () => {
            const newest = await service.newest();
            return newest === null ? NaN : Date.parse(newest.at) / 1000;
          },
        );
        metrics.gauge(
          'aos_backups_newest_bytes',
          'Size of the newest backup; NaN: there is none',
          async () => (await service.newest())?.bytes ?? NaN,
        );
        metrics.gauge('aos_backups_ok', '0 when the last backup could not be made', () => Number(service.ok()));
      },
    };
  },
});
