import type { PluginState, ServiceMigrations, ServiceRuntime } from '../../ports/domain/system.js';
import type { Metrics } from '../../ports/metrics.js';
import type { HealthService } from './health-service.js';

async function readOrNaN(read: () => Promise<number | null>): Promise<number> {
  try {
    return (await read()) ?? NaN;
  } catch (error) {
    if (error instanceof Error) return NaN;
    throw error;
  }
}

export interface GaugeSources {
  runtime: ServiceRuntime;
  schema: ServiceMigrations;
  health: HealthService;
}

export function addHealthGauges(metrics: Metrics, { runtime, schema, health }: GaugeSources): void {
  metrics.gauge('aos_uptime_seconds', 'Seconds since the start', () => health.getUptimeSeconds());
  metrics.gauge('aos_ready', '1 when requests can be served', async () => Number(await health.isReady()));
  metrics.gauge(
    'aos_plugins_failed',
    'Plugins that are not ready',
    () => runtime.listPlugins().filter((p) => p.state === 'failed').length,
  );
  metrics.gauges(
    'aos_plugin_ok',
    '1 while a plugin has not failed and its health is ok',
    'plugin',
    runtime.listPlugins().map(({ id }) => id),
    async () => {
      const own = await runtime.checkHealth();
      const ok = ({ id, state }: PluginState): boolean =>
        state === 'ready' ? own[id]?.ok !== false : state !== 'failed';
      return Object.fromEntries(runtime.listPlugins().map((plugin) => [plugin.id, Number(ok(plugin))]));
    },
  );
  metrics.gauge('aos_migrations_pending', 'Migrations that have not run', () =>
    readOrNaN(async () => (await schema.listMigrations()).pending.length),
  );
  metrics.gauge('aos_disk_free_bytes', 'Free bytes of the data directory', () =>
    readOrNaN(() => runtime.getFreeBytes()),
  );
  metrics.gauge('aos_store_bytes', 'Bytes of the store, if the engine reports it', () =>
    readOrNaN(() => runtime.getStoreBytes()),
  );
}
