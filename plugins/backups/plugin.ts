/** Scheduled backups of the embedded store (contract 95, command line). */
import { definePlugin } from '../../kernel/contract/index.js';
import { backupsConfigSchema, type BackupsConfig } from './config.js';
import { buildBackupPages } from './pages.js';
import { BackupService } from './service.js';

const CHECK_INTERVAL_MS = 300_000;
const JOB_TIMEOUT_MS = 6 * 3_600_000;

export default definePlugin<BackupsConfig>({
  id: 'backups',
  version: '1.0.0',
  api: 1,
  title: 'Backups',
  ports: ['backups'],
  config: backupsConfigSchema,
  from: import.meta.url,
  setup(ctx) {
    const { service } = ctx.services({ service: BackupService });
    const { metrics } = ctx.ports;
    return {
      pages: buildBackupPages(service, ctx.config),
      jobs: [
        {
          name: 'make',
          everyMs: CHECK_INTERVAL_MS,
          timeoutMs: JOB_TIMEOUT_MS,
          run: ({ signal }) => service.runIfDue(signal),
        },
      ],
      health: () => service.checkHealth(),
      start: async () => {
        metrics.gauge(
          'aos_backups_newest_timestamp_seconds',
          'When the newest backup was created; NaN if there is no backup',
          async () => {
            const newest = await service.getNewest();
            return newest === null ? NaN : Date.parse(newest.at) / 1000;
          },
        );
        metrics.gauge(
          'aos_backups_newest_bytes',
          'Size of the newest backup; NaN if there is no backup',
          async () => (await service.getNewest())?.bytes ?? NaN,
        );
        metrics.gauge('aos_backups_ok', '0 if the last backup failed', () => Number(service.hasSucceeded()));
      },
    };
  },
});
