import { loadConfig } from '../../config/load.js';
import type { CommandSpec } from '../../kernel/contract/index.js';
import { requireStore, readRunningPluginStates } from '../../config/compose/compose.js';
import { formatTable } from '../../lib/format-table.js';
import type { PluginState } from '../../ports/domain/system.js';
import { withService } from './service.js';

async function loadStates(): Promise<readonly PluginState[]> {
  const { core } = await loadConfig();
  await requireStore(core);
  return (
    (await readRunningPluginStates(core.data_dir)) ??
    withService({ threads: false }, ({ kernel }) => Promise.resolve(kernel.system.listPlugins()))
  );
}

export const pluginListCommand: CommandSpec = {
  name: 'plugin list',
  summary: 'List the plugins and their state',
  run: async () => {
    const items = await loadStates();
    const rows = items.map(({ id, version, state, reason, title }) => [id, version, state, reason ?? title]);
    return { json: { items }, text: formatTable(['ID', 'VERSION', 'STATE', 'TITLE OR REASON'], rows) };
  },
};

export const pluginForgetCommand: CommandSpec = {
  name: 'plugin forget',
  summary: 'Forget the applied migrations of a plugin, so that all of them run at the next start',
  args: ['id'],
  run: ({ args: [id = ''] }) =>
    withService({ migrate: false, threads: false }, async ({ kernel }) => {
      const forgotten = await kernel.forgetMigrations(id);
      return {
        json: { id, forgotten },
        text: `Forgot ${forgotten.join(', ')}. Restart the service: the migrations of ${id} run again on its existing documents.`,
      };
    }),
};
