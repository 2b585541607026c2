import type { ServiceMigrations } from '../../ports/domain/system.js';
import { MigrationsFailed } from '../faults.js';
import type { Migrator } from '../migrations/migrator.js';

export function createServiceMigrations(migrator: Migrator): ServiceMigrations {
  return {
    listMigrations: async () => {
      const applied = await migrator.listApplied();
      const pending = await migrator.listPending(applied);
      return { applied, pending, current: applied.at(-1)?.id ?? null };
    },
    migrate: async () => {
      const { applied, pending, failed } = await migrator.run();
      if (failed.length > 0) throw new MigrationsFailed(failed);
      return { applied, pending };
    },
  };
}
