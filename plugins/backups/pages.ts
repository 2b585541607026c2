/** /system/backups, for every user. */
import { View, type PageSpec } from '../../kernel/contract/index.js';
import { HOUR_MS, toIsoString } from '../../lib/time.js';
import type { BackupsConfig } from './config.js';
import type { BackupService } from './service.js';

function formatSchedule(hours: number): string {
  if (hours === 0) return 'Off';
  return hours === 24 ? 'Daily' : `Every ${hours} h`;
}

export function buildBackupPages(
  service: Pick<BackupService, 'checkHealth' | 'getNewest' | 'folder'>,
  { every_hours, keep }: Pick<BackupsConfig, 'every_hours' | 'keep'>,
): PageSpec[] {
  return [
    {
      path: '/system/backups',
      title: 'Backups',
      nav: {
        section: 'administration',
        group: 'system',
        label: 'Backups',
        icon: 'database',
        order: 60,
        also: ['backup', 'restore', 'copy', 'snapshot'],
      },
      access: { session: 'member' },
      handle: async () => {
        const [newest, { error = null }] = await Promise.all([service.getNewest(), service.checkHealth()]);
        const next =
          newest === null || every_hours === 0 ? null : toIsoString(Date.parse(newest.at) + every_hours * HOUR_MS);
        return new View('backups', {
          folder: service.folder,
          newest,
          next,
          every_seconds: every_hours * 3600,
          schedule: formatSchedule(every_hours),
          keep,
          error,
        });
      },
    },
  ];
}
