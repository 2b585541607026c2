import joi from 'joi';
import { definePlugin, extend } from '../../kernel/contract/index.js';
import { AUDIT, AUDIT_READER } from '../../ports/domain/audit.js';
import { CATALOG, MIGRATIONS, RUNTIME } from '../../ports/domain/system.js';
import { WATCHDOG } from '../../ports/domain/watchdog.js';
import { HEARTBEAT_REJECTIONS, STORAGE_SPACE } from '../../ports/domain/health.js';
import { addHealthGauges } from './gauges.js';
import { IntegrityChecker } from './integrity-checker.js';
import { MigrationRunner } from './migration-runner.js';
import { buildSystemPages, buildSystemPanels } from './system-pages.js';
import { DETAILS_SCOPE, buildHealthRoutes } from './health-routes.js';
import { HealthService, type HealthConfig } from './health-service.js';
import { DiskSpaceMonitor } from './disk-space-monitor.js';

const INTEGRITY_CHECK_TIMEOUT_MS = 12 * 3_600_000;

export default definePlugin<HealthConfig>({
  id: 'health',
  version: '1.0.0',
  api: 1,
  title: 'Health and migrations',
  critical: true,
  needs: [RUNTIME.name, MIGRATIONS.name, CATALOG.name, AUDIT.name, AUDIT_READER.name],
  uses: [WATCHDOG.name],
  provides: [STORAGE_SPACE.name],
  extends: [HEARTBEAT_REJECTIONS.point],
  scopes: [DETAILS_SCOPE],
  tags: {
    health: 'Health of the service, for users and probes.',
    metrics: 'Numbers for Prometheus.',
    admin: 'Migrations.',
  },
  config: joi.object({
    min_free_bytes: joi
      .number()
      .integer()
      .min(0)
      .default(256 * 1024 * 1024)
      .description(
        'Minimum free space in the data directory: below it the disk check fails, and intakes (errors, reports, heartbeats) respond with 507. 0: disabled.',
      ),
  }),
  collections: [{ name: 'examinations', indexes: [] }],
  from: import.meta.url,
  setup(ctx) {
    const runtime = ctx.resolve(RUNTIME);
    const schema = ctx.resolve(MIGRATIONS);
    const audit = ctx.resolve(AUDIT);
    const { jobs, metrics } = ctx.ports;
    const { health, run, space, integrity } = ctx.services({
      integrity: IntegrityChecker,
      health: HealthService,
      run: MigrationRunner,
      space: DiskSpaceMonitor,
    });
    return {
      services: { [STORAGE_SPACE.name]: space },
      extensions: [extend(HEARTBEAT_REJECTIONS, { isRejecting: () => space.isLow() })],
      routes: buildHealthRoutes({ health, run, catalog: ctx.resolve(CATALOG), metrics }),
      pages: buildSystemPages({
        health,
        run,
        runtime,
        schema,
        jobs,
        audit,
        reader: ctx.resolve(AUDIT_READER),
        clock: ctx.clock,
        timezone: ctx.app.timezone,
        watchdog: () => ctx.find(WATCHDOG),
      }),
      panels: buildSystemPanels({ schema }),
      // Sunday night, because reading a large store may take hours.
      jobs: runtime.canExamineStore
        ? [
            {
              name: 'examine_store',
              cron: '10 3 * * 0',
              timeoutMs: INTEGRITY_CHECK_TIMEOUT_MS,
              run: ({ signal }) => integrity.runCheck(signal),
            },
          ]
        : [],
      start: async () => {
        addHealthGauges(metrics, { runtime, schema, health });
        await space.refresh();
      },
      stop: () => run.waitUntilIdle(),
    };
  },
});
