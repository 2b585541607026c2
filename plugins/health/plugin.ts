/** Health, metrics, the interface description, migrations and the system page (contracts 95, 10 and 80). */
import joi from 'joi';
import { definePlugin } from '../../kernel/contract.js';
import { AUDIT } from '../../ports/domain/access.js';
import { SYSTEM } from '../../ports/domain/system.js';
import { gauges } from './gauges.js';
import { MigrationRun } from './migration-run.js';
import { pages } from './pages.js';
import { routes } from './routes.js';
import { HealthService, type HealthConfig } from './service.js';

export default definePlugin<HealthConfig>({
  id: 'health',
  version: '1.0.0',
  api: 1,
  title: 'Health and migrations',
  critical: true,
  needs: [SYSTEM.name, AUDIT.name],
  tags: {
    health: 'Whether the service works, for people and for probes.',
    metrics: 'Numbers for Prometheus.',
    admin: 'Migrations.',
    'install_db.php': 'Migrations, at the address of earlier versions.',
  },
  config: joi.object({
    min_free_bytes: joi
      .number()
      .integer()
      .min(0)
      .default(256 * 1024 * 1024)
      .description('Below this much free space in the data directory the disk check fails'),
  }),
  from: import.meta.url,
  setup(ctx) {
    const system = ctx.resolve(SYSTEM);
    const audit = ctx.resolve(AUDIT);
    const { jobs, metrics } = ctx.ports;
    const { health, run } = ctx.services({ health: HealthService, run: MigrationRun });
    return {
      routes: routes({ health, run, system, metrics }),
      pages: pages({ health, run, system, jobs, audit }),
      start: () => {
        gauges(metrics, system, health);
        return Promise.resolve();
      },
      stop: () => run.settled(),
    };
  },
});
